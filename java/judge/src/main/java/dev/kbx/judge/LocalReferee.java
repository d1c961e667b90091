package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.DeviceLost;
import dev.kbx.device.Gpu;
import dev.kbx.device.Slot;
import dev.kbx.plan.Plan;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.timing.BaselineCache;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Judges on this machine. A candidate gets the slot that has been free for longest. A slot whose
 * device is lost gets no further candidates, and its candidate is retried once on another device.
 * Safe for several threads.
 */
public final class LocalReferee implements JudgingReferee {
  private final List<JudgingSlot> judgingSlots;
  private final Queue<JudgingSlot> free;

  /** Fair: threads get slots in order of arrival. */
  private final ReentrantLock lock = new ReentrantLock(true);

  private final Condition changed = lock.newCondition();
  private final Verdict.Device device;
  private final Map<String, String> versions;
  private @Nullable DeviceLost last;

  /**
   * @param slots at least one
   * @param device of the first slot; judgements name it until an oracle has reported theirs
   * @param versions of the software that judges, by name
   * @param baselines compiled baselines that were measured earlier
   * @param binaries cache of compiled candidates
   * @param syntax finds syntax errors
   */
  public LocalReferee(
      List<Slot> slots,
      Verdict.Device device,
      Map<String, String> versions,
      BaselineCache baselines,
      BinaryCache binaries,
      SyntaxCheck syntax) {
    this.judgingSlots = judgingSlots(slots, baselines, binaries, syntax);
    this.free = new ArrayDeque<>(judgingSlots);
    this.device = device;
    this.versions = Map.copyOf(versions);
  }

  private static List<JudgingSlot> judgingSlots(
      List<Slot> slots, BaselineCache baselines, BinaryCache binaries, SyntaxCheck syntax) {
    Map<Gpu, SharedGpu> gpus = new HashMap<>();
    List<JudgingSlot> judgingSlots = new ArrayList<>();
    for (Slot slot : slots) {
      Gpu gpu = slot.gpu();
      SharedGpu shared =
          gpu == null ? null : gpus.computeIfAbsent(gpu, _ -> SharedGpu.of(gpu, baselines));
      judgingSlots.add(new JudgingSlot(slot, binaries, shared, syntax));
    }
    return List.copyOf(judgingSlots);
  }

  @Override
  public int capacity() {
    return judgingSlots.size();
  }

  @Override
  public void expect(Plan plan, int candidates) {
    if (candidates <= 0) return;
    judgingSlots.getFirst().slot().expect(candidates);
    judgingSlots.stream()
        .map(judgingSlot -> judgingSlot.slot().gpu())
        .filter(Objects::nonNull)
        .distinct()
        .forEach(gpu -> gpu.readyInBackground(plan));
  }

  /** The devices that can judge, as far as their oracles have reported them. */
  private List<Verdict.Device> reported() {
    List<Verdict.Device> devices = new ArrayList<>();
    DeviceSlot named = judgingSlots.getFirst().slot().device();
    for (JudgingSlot judgingSlot : judgingSlots) {
      Slot slot = judgingSlot.slot();
      boolean first = slot.gpu() == null || slot.device().equals(named);
      Optional<Verdict.Device> own = slot.described();
      if (own.isEmpty() && first) own = Optional.of(device);
      own.filter(found -> !devices.contains(found)).ifPresent(devices::add);
    }
    return devices;
  }

  @Override
  public List<JudgingDevice> devices() {
    Map<DeviceSlot, JudgingDevice> devices = new LinkedHashMap<>();
    for (JudgingSlot judgingSlot : judgingSlots) {
      Slot slot = judgingSlot.slot();
      DeviceSlot place =
          slot.gpu() == null ? judgingSlots.getFirst().slot().device() : slot.device();
      devices.computeIfAbsent(place, _ -> judging(slot));
    }
    return List.copyOf(devices.values());
  }

  private JudgingDevice judging(Slot slot) {
    boolean first =
        slot.gpu() == null || slot.device().equals(judgingSlots.getFirst().slot().device());
    Optional<Verdict.Device> known = slot.described();
    if (known.isEmpty() && first) known = Optional.of(device);
    if (slot.lost()) {
      return new JudgingDevice(known.orElseGet(() -> unnamed(slot)), JudgingDevice.State.LOST);
    }
    return known
        .map(named -> new JudgingDevice(named, JudgingDevice.State.READY))
        .orElseGet(() -> new JudgingDevice(unnamed(slot), JudgingDevice.State.NOT_STARTED));
  }

  private static Verdict.Device unnamed(Slot slot) {
    String kind = slot.device().kind().label();
    return new Verdict.Device(kind, kind + ":" + slot.device().index(), null, null, null);
  }

  @Override
  public List<JudgingConditions> conditions() {
    return reported().stream().map(each -> new JudgingConditions(each, versions)).toList();
  }

  /** The device that judgements name until an oracle has reported theirs. */
  Verdict.Device device() {
    return device;
  }

  /** Versions of the software that judges, by name. */
  public Map<String, String> versions() {
    return versions;
  }

  /** Work on a slot. */
  interface Work<T> {
    T on(JudgingSlot judgingSlot) throws InterruptedException;
  }

  @Override
  public Judgement judge(Candidate candidate, Plan plan) throws InterruptedException {
    try {
      return on(judgingSlot -> judge(judgingSlot, candidate, plan));
    } catch (DeviceLost e) {
      return on(judgingSlot -> judgeOrGiveUp(judgingSlot, candidate, plan));
    }
  }

  /**
   * Compiles a candidate for the GPU of another machine, and judges nothing.
   *
   * @param arch of that GPU
   * @return empty if there is nothing to compile ahead
   */
  public Optional<Binaries> compile(Candidate candidate, Plan plan, String arch)
      throws InterruptedException {
    return on(
        judgingSlot -> new Judge(judgingSlot, plan, device, versions).compile(candidate, arch));
  }

  /**
   * Keeps what another machine compiled of a candidate that is to be judged here, unless it was
   * compiled for other devices or by other versions.
   */
  public void keep(Binaries compiled, Candidate candidate, Plan plan) throws InterruptedException {
    new Judge(judgingSlots.getFirst(), plan, device, versions).keep(compiled, candidate);
  }

  private Judgement judge(JudgingSlot judgingSlot, Candidate candidate, Plan plan)
      throws InterruptedException {
    Judgement judgement = new Judge(judgingSlot, plan, device, versions).judge(candidate);
    judgingSlot.slot().settled();
    return judgingSlot.slot().lost() ? judgement.with(Judgement.DEVICE_LOST) : judgement;
  }

  /** A candidate under which two devices were lost is not tried on a third. */
  private Judgement judgeOrGiveUp(JudgingSlot judgingSlot, Candidate candidate, Plan plan)
      throws InterruptedException {
    try {
      return judge(judgingSlot, candidate, plan);
    } catch (DeviceLost e) {
      lost(e);
      return new Judge(judgingSlot, plan, device, versions).givenUp(candidate, e);
    }
  }

  /**
   * Does the work on the slot that has been free for longest.
   *
   * @throws DeviceLost if the slot's device was lost, or no slot is left
   */
  <T> T on(Work<T> work) throws InterruptedException {
    JudgingSlot judgingSlot = take();
    try {
      return work.on(judgingSlot);
    } catch (DeviceLost e) {
      lost(e);
      throw e;
    } finally {
      giveBack(judgingSlot);
    }
  }

  @Override
  public void settled() {
    judgingSlots.getFirst().slot().settled();
  }

  /** Whether a slot is left. */
  boolean usable() {
    return judgingSlots.stream().anyMatch(judgingSlot -> !judgingSlot.slot().lost());
  }

  private JudgingSlot take() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (true) {
        JudgingSlot judgingSlot = free.poll();
        if (judgingSlot == null && usable()) {
          changed.await();
        } else if (judgingSlot == null) {
          changed.signalAll();
          DeviceLost why = last;
          throw why != null ? why : new DeviceLost("every device stopped computing");
        } else if (!judgingSlot.slot().lost()) {
          return judgingSlot;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void giveBack(JudgingSlot judgingSlot) {
    lock.lock();
    try {
      free.add(judgingSlot);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void lost(DeviceLost why) {
    lock.lock();
    try {
      last = why;
    } finally {
      lock.unlock();
    }
  }
}

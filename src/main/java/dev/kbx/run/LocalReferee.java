package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Judges on this machine: a candidate takes the slot that has been free for longest. A slot whose
 * device is lost is given no other, and its candidate goes to another device once.
 */
public final class LocalReferee implements Referee {
  private final List<Workers.Slot> slots;
  private final Queue<Workers.Slot> free;
  private final Verdict.Device device;
  private final Map<String, String> versions;
  private @Nullable DeviceLost last;

  /**
   * @param slots where to judge; at least one
   * @param device of the first slot, which judgements name until their own has said what it is
   * @param versions of what judges, by name
   */
  public LocalReferee(
      List<Workers.Slot> slots, Verdict.Device device, Map<String, String> versions) {
    this.slots = List.copyOf(slots);
    this.free = new ArrayDeque<>(slots);
    this.device = device;
    this.versions = Map.copyOf(versions);
  }

  @Override
  public int capacity() {
    return slots.size();
  }

  @Override
  public void expect(Plan plan, int candidates) {
    if (candidates > 0) slots.getFirst().ready(plan, candidates);
  }

  /** The devices whose judgements these may be, as far as they have said which they are. */
  List<Verdict.Device> devices() {
    List<Verdict.Device> devices = new ArrayList<>();
    for (Workers.Slot slot : slots) {
      boolean first = slot.gpu() == null || slot.device().equals(slots.getFirst().device());
      Optional<Verdict.Device> own = slot.described();
      if (own.isEmpty() && first) own = Optional.of(device);
      own.filter(found -> !devices.contains(found)).ifPresent(devices::add);
    }
    return devices;
  }

  /** The device that judgements name until their own has said what it is. */
  Verdict.Device device() {
    return device;
  }

  /** What judges here, by name. */
  Map<String, String> versions() {
    return versions;
  }

  /** What is done on a slot. */
  interface Work<T> {
    T on(Workers.Slot slot) throws InterruptedException;
  }

  @Override
  public Judgement judge(Candidate candidate, Plan plan) throws InterruptedException {
    try {
      return on(slot -> judge(slot, candidate, plan));
    } catch (DeviceLost e) {
      return on(slot -> judgeOrGiveUp(slot, candidate, plan));
    }
  }

  private Judgement judge(Workers.Slot slot, Candidate candidate, Plan plan)
      throws InterruptedException {
    Judgement judgement = new Judge(slot, plan, device, versions).judge(candidate);
    slot.settled();
    return slot.lost() ? judgement.with(Judgement.DEVICE_LOST) : judgement;
  }

  /** No third device is risked for a candidate under which two were lost. */
  private Judgement judgeOrGiveUp(Workers.Slot slot, Candidate candidate, Plan plan)
      throws InterruptedException {
    try {
      return judge(slot, candidate, plan);
    } catch (DeviceLost e) {
      lost(e);
      return new Judge(slot, plan, device, versions).givenUp(e);
    }
  }

  /**
   * Does something on the slot that has been free for longest.
   *
   * @throws DeviceLost when its device was lost, or no slot is left
   */
  <T> T on(Work<T> work) throws InterruptedException {
    Workers.Slot slot = take();
    try {
      return work.on(slot);
    } catch (DeviceLost e) {
      lost(e);
      throw e;
    } finally {
      giveBack(slot);
    }
  }

  /** Whether anything can still be judged. */
  boolean usable() {
    return slots.stream().anyMatch(slot -> !slot.lost());
  }

  private synchronized Workers.Slot take() throws InterruptedException {
    while (true) {
      Workers.Slot slot = free.poll();
      if (slot == null && usable()) {
        wait();
      } else if (slot == null) {
        DeviceLost why = last;
        throw why != null ? why : new DeviceLost("every device stopped computing");
      } else if (!slot.lost()) {
        return slot;
      }
    }
  }

  private synchronized void giveBack(Workers.Slot slot) {
    free.add(slot);
    notifyAll();
  }

  private synchronized void lost(DeviceLost why) {
    last = why;
  }
}

package dev.kbx.device;

import static dev.kbx.device.Defaults.BYTES_PER_RUNNER;
import static dev.kbx.device.Defaults.CALLED_PART;
import static dev.kbx.device.Defaults.COURTESY;
import static dev.kbx.device.Defaults.MAKERS;
import static dev.kbx.device.Defaults.MAX_RUNNERS;

import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Message;
import dev.kbx.worker.Runner;
import dev.kbx.worker.Runner.Use;
import dev.kbx.worker.WorkerFailure;
import dev.kbx.worker.Zygote;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runners of one GPU that have a CUDA context and wait for a candidate.
 *
 * <p>Making a context uses the device, so runners are made while it is shared. An exclusive user
 * then finds one ready.
 */
final class WarmRunnerPool implements AutoCloseable {
  private final Processes processes;
  private final DeviceSlot device;
  private final SharedExclusiveLock lease;
  private final IntSupplier expected;
  private final Map<Use, Stock> stocks = new EnumMap<>(Use.class);

  /** Those that candidates need. */
  private final Set<Use> uses = EnumSet.noneOf(Use.class);

  private int makers;

  /** Candidates whose runner is being made now; spare ones would delay them. */
  private int needed;

  private boolean closed;

  /** Runners for one use. */
  private static final class Stock {
    final Deque<Runner> ready = new ArrayDeque<>();
    int making;
  }

  private Stock stock(Use use) {
    return stocks.computeIfAbsent(use, _ -> new Stock());
  }

  /**
   * @param expected candidates still to be judged: an upper bound for the number of runners
   */
  WarmRunnerPool(
      Processes processes, DeviceSlot device, SharedExclusiveLock lease, IntSupplier expected) {
    this.processes = processes;
    this.device = device;
    this.lease = lease;
    this.expected = expected;
  }

  /** Takes a warm runner, or makes a new one. The caller must hold the device. */
  Runner take(Use use, String arch, Message.Hello greeting, Zygote.Allowance allowance)
      throws InterruptedException {
    expect(use);
    Runner found = poll(use);
    refill(arch, greeting, allowance);
    return found != null ? found : make(use, arch, greeting, allowance);
  }

  /** Makes a new runner. The caller must hold the device. */
  Runner make(Use use, String arch, Message.Hello greeting, Zygote.Allowance allowance)
      throws InterruptedException {
    need(1);
    try {
      return withContext(fork(use, arch, greeting, allowance));
    } finally {
      need(-1);
    }
  }

  private synchronized void need(int more) {
    needed += more;
    notifyAll();
  }

  /** Lets candidates that were admitted together take their runners first. */
  private void giveWay() throws InterruptedException {
    Thread.sleep(COURTESY);
    synchronized (this) {
      while (needed > 0) wait();
    }
  }

  /**
   * Announces a use. No spare runners for it are made before this, or before the first is taken.
   */
  synchronized void expect(Use use) {
    uses.add(use);
  }

  /** Makes spare runners in the background, as soon as the device is shared. */
  synchronized void refill(String arch, Message.Hello greeting, Zygote.Allowance allowance) {
    for (; makers < MAKERS; makers++) {
      Thread.ofVirtual().name("spares").start(() -> fill(arch, greeting, allowance));
    }
  }

  private void fill(String arch, Message.Hello greeting, Zygote.Allowance allowance) {
    boolean over = false;
    try {
      for (Use use = claim(greeting); use != null; use = claim(greeting)) {
        try {
          // Forks and initialises the driver, even while the device may be timing.
          keep(use, greeting, fork(use, arch, greeting, allowance));
        } finally {
          release(use);
        }
      }
      over = true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (WorkerFailure e) {
      // The next thread that needs a runner makes one, and reports the error.
      System.getLogger("kbx").log(System.Logger.Level.DEBUG, "no spare runner", e);
    } finally {
      if (!over) made();
    }
  }

  private void keep(Use use, Message.Hello greeting, Runner runner) throws InterruptedException {
    try (var _ = lease.shared()) {
      giveWay();
      if (enough(use, greeting)) runner.close();
      else add(use, withContext(runner));
    } catch (InterruptedException e) {
      runner.close();
      throw e;
    }
  }

  /**
   * The use to make the next spare runner for; timed candidates come first, since they cannot wait
   * for one. Null if there are enough.
   */
  private synchronized @Nullable Use claim(Message.Hello greeting) {
    for (Use use : closed ? List.<Use>of() : List.of(Use.TIMED, Use.CALLED_ALONE, Use.CALLED)) {
      Stock stock = stock(use);
      if (stock.ready.size() + stock.making < most(use, greeting)) {
        stock.making++;
        return use;
      }
    }
    makers--;
    return null;
  }

  private int most(Use use, Message.Hello greeting) {
    if (!uses.contains(use)) return 0;
    Long bytes = greeting.deviceBytes();
    int all =
        bytes == null
            ? MAX_RUNNERS
            : Math.clamp(bytes / BYTES_PER_RUNNER, Use.values().length, MAX_RUNNERS);
    int called = Math.max(1, all / CALLED_PART);
    boolean both = uses.containsAll(List.of(Use.CALLED_ALONE, Use.TIMED));
    int others = both ? (all - called) / 2 : all - called;
    return Math.min(use == Use.CALLED ? called : others, expected.getAsInt());
  }

  /** Candidates may have ended since this one was claimed. */
  private synchronized boolean enough(Use use, Message.Hello greeting) {
    return closed || stock(use).ready.size() >= most(use, greeting);
  }

  private synchronized void add(Use use, Runner runner) {
    if (closed) runner.close();
    else stock(use).ready.add(runner);
  }

  private synchronized void release(Use use) {
    stock(use).making--;
  }

  private synchronized void made() {
    makers--;
  }

  private synchronized @Nullable Runner poll(Use use) {
    Deque<Runner> ready = stock(use).ready;
    Runner found = ready.poll();
    while (found != null && found.ended()) found = ready.poll();
    return found;
  }

  private Runner fork(Use use, String arch, Message.Hello greeting, Zygote.Allowance allowance)
      throws InterruptedException {
    return processes.zygote().spawn(device, arch, greeting, allowance, use);
  }

  private static Runner withContext(Runner runner) throws InterruptedException {
    try {
      runner.attach();
      return runner;
    } catch (InterruptedException | RuntimeException e) {
      runner.close();
      throw e;
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    for (Use use : Use.values()) {
      stock(use).ready.forEach(Runner::close);
      stock(use).ready.clear();
    }
  }
}

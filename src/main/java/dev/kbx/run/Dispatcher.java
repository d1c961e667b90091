package dev.kbx.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Gives work to slots: a slot that is free takes the next piece, until none is left. No batches, no
 * fixed shares.
 */
final class Dispatcher {
  /** How long interrupted slots are waited for, all together. */
  private static final Duration PARTING = Duration.ofSeconds(5);

  private Dispatcher() {}

  /** Does one piece of work on a slot. */
  interface Work<T> {
    void on(Workers.Slot slot, T piece) throws InterruptedException;
  }

  /**
   * Does every piece on some slot and returns when all are done. The first unchecked exception or
   * error stops the others after their current piece and is thrown here; an interrupt stops them at
   * once. A slot whose device is lost gives its piece back and takes no other.
   *
   * @throws DeviceLost when no slot is left
   */
  static <T> void run(List<Workers.Slot> slots, List<T> pieces, Work<T> work)
      throws InterruptedException {
    Queue<T> queue = new ConcurrentLinkedQueue<>(pieces);
    AtomicReference<@Nullable DeviceLost> lost = new AtomicReference<>();
    List<Workers.Slot> left = slots;
    do {
      run(left, queue, work, lost);
      left = left.stream().filter(slot -> !slot.lost()).toList();
    } while (!queue.isEmpty() && !left.isEmpty());
    if (queue.isEmpty()) return;
    DeviceLost last = lost.get();
    throw last != null ? last : new DeviceLost("every device stopped computing");
  }

  private static <T> void run(
      List<Workers.Slot> slots,
      Queue<T> queue,
      Work<T> work,
      AtomicReference<@Nullable DeviceLost> lost)
      throws InterruptedException {
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (Workers.Slot slot : slots) {
      threads.add(
          Thread.ofVirtual()
              .name("slot-" + slot.device().kind().label() + slot.device().index())
              .start(() -> drain(slot, queue, work, failure, lost)));
    }
    try {
      for (Thread thread : threads) thread.join();
    } catch (InterruptedException e) {
      threads.forEach(Thread::interrupt);
      part(threads); // They still use what the caller closes.
      throw e;
    }
    switch (failure.get()) {
      case null -> {}
      case Error error -> throw error;
      case RuntimeException exception -> throw exception;
      case Throwable other -> throw new IllegalStateException(other);
    }
  }

  private static void part(List<Thread> threads) throws InterruptedException {
    long end = System.nanoTime() + PARTING.toNanos();
    for (Thread thread : threads) thread.join(Duration.ofNanos(end - System.nanoTime()));
  }

  private static <T> void drain(
      Workers.Slot slot,
      Queue<T> queue,
      Work<T> work,
      AtomicReference<@Nullable Throwable> failure,
      AtomicReference<@Nullable DeviceLost> lost) {
    T piece = null;
    try {
      while (failure.get() == null && !slot.lost() && (piece = queue.poll()) != null) {
        work.on(slot, piece);
      }
    } catch (DeviceLost e) {
      lost.set(e);
      if (piece != null) queue.add(piece);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    }
  }
}

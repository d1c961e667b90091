package dev.kbx.judge;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Works through a list with a fixed number of threads: each free thread takes the next item. */
public final class Dispatcher {
  /** Total time to wait for interrupted threads. */
  private static final Duration PARTING = Duration.ofSeconds(5);

  private Dispatcher() {}

  /** Processes one item. */
  interface Work<T> {
    void on(T piece) throws InterruptedException;
  }

  /**
   * Processes every item and returns when all are done. The first unchecked exception or error
   * stops the other threads after their current item and is thrown here; an interrupt stops them at
   * once.
   */
  static <T> void run(int width, List<T> pieces, Work<T> work) throws InterruptedException {
    Queue<T> queue = new ConcurrentLinkedQueue<>(pieces);
    FirstFailure failure = new FirstFailure();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Math.min(width, pieces.size()); i++) {
      threads.add(Thread.ofVirtual().name("work-" + i).start(() -> drain(queue, work, failure)));
    }
    try {
      for (Thread thread : threads) thread.join();
    } catch (InterruptedException e) {
      threads.forEach(Thread::interrupt);
      part(threads); // Those threads still use resources that the caller closes.
      throw e;
    }
    failure.rethrow();
  }

  /** Waits for interrupted threads, for a limited time. */
  public static void part(List<Thread> threads) throws InterruptedException {
    long end = System.nanoTime() + PARTING.toNanos();
    for (Thread thread : threads) thread.join(Duration.ofNanos(end - System.nanoTime()));
  }

  private static <T> void drain(Queue<T> queue, Work<T> work, FirstFailure failure) {
    try {
      for (T piece = queue.poll(); piece != null; piece = queue.poll()) {
        if (failure.isSet()) return;
        work.on(piece);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      failure.set(e);
    }
  }
}

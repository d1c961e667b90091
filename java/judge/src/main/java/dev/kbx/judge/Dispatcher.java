package dev.kbx.judge;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Virtual threads that work beside each other, up to a number at a time; whoever submits more
 * waits, in order of arrival. After the first failure nothing more is begun.
 *
 * <p>Nothing waits in here, so that work can be made when there is room for it. Safe for several
 * threads.
 */
public final class Dispatcher implements AutoCloseable {
  /** Total time to wait for interrupted threads. */
  private static final Duration PARTING = Duration.ofSeconds(5);

  private final int width;
  private final Semaphore room;
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  /** Work of one thread. An interrupt ends it, and is not a failure. */
  public interface Task {
    void run() throws InterruptedException;
  }

  /** Processes one item of a list. */
  public interface Work<T> {
    void on(T piece) throws InterruptedException;
  }

  /**
   * @param width number of tasks that run at a time
   */
  public Dispatcher(int width) {
    this.width = width;
    this.room = new Semaphore(width, true);
  }

  /**
   * Processes every item, beginning in this order, and returns when all are done. The first
   * unchecked exception or error keeps items that have not begun from being processed and is thrown
   * here; an interrupt stops all at once.
   */
  public static <T> void run(int width, List<T> pieces, Work<T> work) throws InterruptedException {
    try (Dispatcher dispatcher = new Dispatcher(width)) {
      for (T piece : pieces) {
        if (!dispatcher.submit(() -> work.on(piece))) break;
      }
      dispatcher.finish();
    }
  }

  /**
   * Begins a task, as soon as there is room.
   *
   * @return false if it is never begun, because another has failed
   */
  public boolean submit(Task task) throws InterruptedException {
    room.acquire();
    if (failed()) {
      room.release();
      return false;
    }
    Thread thread = Thread.ofVirtual().unstarted(() -> run(task));
    threads.add(thread);
    thread.start();
    return true;
  }

  private void run(Task task) {
    try {
      task.run();
    } catch (InterruptedException e) {
      // Whoever interrupts it knows.
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    } finally {
      threads.remove(Thread.currentThread());
      room.release();
    }
  }

  /** Whether a task has failed. */
  public boolean failed() {
    return failure.get() != null;
  }

  /** Waits until no task runs, and throws the first failure, if there was one. */
  public void finish() throws InterruptedException {
    room.acquire(width);
    room.release(width);
    switch (failure.get()) {
      case null -> {}
      case Error error -> throw error;
      case RuntimeException exception -> throw exception;
      case Throwable other -> throw new IllegalStateException(other);
    }
  }

  /**
   * Interrupts what runs and waits for it, for a limited time: it uses resources that the caller
   * closes next.
   */
  @Override
  public void close() {
    List<Thread> left = List.copyOf(threads);
    left.forEach(Thread::interrupt);
    long end = System.nanoTime() + PARTING.toNanos();
    try {
      for (Thread thread : left) thread.join(Duration.ofNanos(end - System.nanoTime()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

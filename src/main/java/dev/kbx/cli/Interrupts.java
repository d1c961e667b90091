package dev.kbx.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ctrl-C and SIGTERM while this is open: the thread that opened it is interrupted, given a moment
 * to end its workers, and one line says how to go on. Leaves with {@link ExitCode#INCOMPLETE}.
 */
final class Interrupts implements AutoCloseable {
  /** Ending runners and oracles takes a moment; nobody waits longer than this for a prompt. */
  private static final long PATIENCE_SECONDS = 8;

  /** The advice of a command that keeps what it has done. */
  static final String RESUMABLE =
      "interrupted; the same command with --resume goes on where this stopped";

  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook;
  private volatile String advice;

  Interrupts(String advice) {
    this.advice = advice;
    Thread worker = Thread.currentThread();
    hook = new Thread(() -> leave(worker), "interrupt");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** From now on this is what there is to say. */
  void advise(String line) {
    advice = line;
  }

  private void leave(Thread worker) {
    worker.interrupt();
    try {
      boolean _ = closed.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    System.err.println("kbx: " + advice);
    System.err.flush();
    Runtime.getRuntime().halt(ExitCode.INCOMPLETE);
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is going down, and the hook is what we are closing for.
    }
  }
}

package dev.kbx.cli;

import dev.kbx.worker.ScratchFolder;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Handles Ctrl-C and SIGTERM while open: interrupts the thread that opened it, gives it a moment to
 * end its workers, prints one line of advice, and exits with {@link ExitCode#INCOMPLETE}; with
 * {@link ExitCode#OK} where that is how the command ends.
 */
public final class Interrupts implements AutoCloseable {
  /** Maximum wait for runners and oracles to end. */
  private static final long PATIENCE_SECONDS = 8;

  /** Advice of a resumable command. */
  static final String RESUMABLE =
      "interrupted; the same command with --resume goes on where this stopped";

  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook;
  private volatile String advice;
  private volatile int exit = ExitCode.INCOMPLETE;

  public Interrupts(String advice) {
    this.advice = advice;
    Thread worker = Thread.currentThread();
    hook = new Thread(() -> leave(worker), "interrupt");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** Sets the line that is printed on an interrupt. */
  public void advise(String line) {
    advice = line;
  }

  /**
   * From now on the command goes on until it is interrupted; sets the line that is printed then.
   */
  void expect(String line) {
    advice = line;
    exit = ExitCode.OK;
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
    ScratchFolder.delete();
    Runtime.getRuntime().halt(exit);
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is shutting down and runs the hook.
    }
  }
}

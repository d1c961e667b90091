package dev.kbx.cli;

import dev.kbx.worker.ScratchFolder;
import java.io.PrintStream;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

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

  private static volatile @Nullable Interrupts current;

  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread worker = Thread.currentThread();
  private final Thread hook;
  private volatile String advice;
  private volatile int exit = ExitCode.INCOMPLETE;

  public Interrupts(String advice) {
    this.advice = advice;
    hook = new Thread(this::leave, "interrupt");
    Runtime.getRuntime().addShutdownHook(hook);
    current = this;
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

  /**
   * Interrupts the command that this process runs for another, as Ctrl-C would have.
   *
   * @param err where the advice is printed
   * @return its exit code; empty if nothing is open yet
   */
  static OptionalInt stop(PrintStream err) {
    Interrupts open = current;
    if (open == null) return OptionalInt.empty();
    open.stopWorker(
        TerminalStream.of(err, Terminal.interactive() ? Terminal.columns() : Integer.MAX_VALUE));
    return OptionalInt.of(open.exit);
  }

  private void stopWorker(PrintStream err) {
    worker.interrupt();
    try {
      boolean _ = closed.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    err.println("kbx: " + advice);
    err.flush();
  }

  private void leave() {
    stopWorker(System.err);
    ScratchFolder.deleteAndHalt(exit);
  }

  @Override
  public void close() {
    closed.countDown();
    current = null;
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is shutting down and runs the hook.
    }
  }
}

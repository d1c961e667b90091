package dev.kbx.cli;

import dev.kbx.worker.ScratchFolder;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ctrl-C and SIGTERM of a command that runs until it is stopped: the command is told, closes what
 * it has, says its last word, closes this, and the JVM exits with {@link ExitCode#OK}.
 */
final class StopSignal implements AutoCloseable {
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook;

  /**
   * @param patience maximum time that the command takes to close
   */
  StopSignal(Duration patience) {
    hook = new Thread(() -> stop(patience), "stop");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void stop(Duration patience) {
    stopped.countDown();
    boolean clean = false;
    try {
      clean = closed.await(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    System.err.flush();
    ScratchFolder.delete();
    Runtime.getRuntime().halt(clean ? ExitCode.OK : ExitCode.INCOMPLETE);
  }

  /** Waits for the signal. */
  void await() throws InterruptedException {
    stopped.await();
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

package dev.kbx.python;

import java.io.PrintStream;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes progress as text: on a terminal one line that is rewritten, elsewhere a line every five
 * seconds.
 */
public final class TextProgress implements Progress {
  private static final long INTERVAL_NANOS = Duration.ofSeconds(5).toNanos();
  private final PrintStream out;
  private final @Nullable Runnable erase;
  private final LongSupplier nanoTime;
  private long nextNanos;
  private boolean midLine;

  /**
   * @param erase empties the line of the terminal that is written in; null if it is not a terminal
   */
  public TextProgress(PrintStream out, @Nullable Runnable erase) {
    this(out, erase, System::nanoTime);
  }

  TextProgress(PrintStream out, @Nullable Runnable erase, LongSupplier nanoTime) {
    this.out = out;
    this.erase = erase;
    this.nanoTime = nanoTime;
    this.nextNanos = nanoTime.getAsLong();
  }

  @Override
  public void note(String line) {
    done();
    out.println("kbx: " + line);
  }

  @Override
  public void update(String status) {
    if (erase != null) {
      erase.run();
      out.print("kbx: " + status);
      out.flush();
      midLine = true;
    } else if (nanoTime.getAsLong() - nextNanos >= 0) {
      nextNanos = nanoTime.getAsLong() + INTERVAL_NANOS;
      out.println("kbx: " + status);
    }
  }

  @Override
  public void done() {
    if (midLine) out.println();
    midLine = false;
  }
}

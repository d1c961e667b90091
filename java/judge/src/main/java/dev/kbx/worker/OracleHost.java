package dev.kbx.worker;

import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What oracles are started with.
 *
 * @param python interpreter with torch and triton
 * @param home folder that holds {@code worker/}
 * @param clock nanoseconds, as {@link System#nanoTime}: what answers are timed with
 * @param confinedTo folder of a suite that is somebody else's: its oracles run in a sandbox, in
 *     which this folder, the system, Python and kbx itself can be read, and reach no network. Null
 *     if task files are trusted
 */
public record OracleHost(Path python, Path home, LongSupplier clock, @Nullable Path confinedTo) {
  /** For task files that are trusted. */
  public static OracleHost trusting(Path python, Path home, LongSupplier clock) {
    return new OracleHost(python, home, clock, null);
  }

  /** Arguments of an oracle's program. */
  List<String> arguments() {
    return confinedTo == null ? List.of() : List.of("--confine", confinedTo.toString());
  }
}

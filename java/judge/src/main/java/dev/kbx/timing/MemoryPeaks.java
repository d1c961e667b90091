package dev.kbx.timing;

import static dev.kbx.timing.Defaults.COPIES;
import static dev.kbx.timing.Defaults.LARGE_WORKSPACE;
import static dev.kbx.timing.Defaults.SMALL_BYTES;

import org.jspecify.annotations.Nullable;

/**
 * The most device memory that one call held in any round of a size, on each side: results and
 * workspace, beyond what was held before the call. The candidate's is a claim of its process.
 */
final class MemoryPeaks {
  private @Nullable Long candidate;
  private @Nullable Long reference;

  void add(@Nullable Long candidateBytes, @Nullable Long referenceBytes) {
    candidate = larger(candidate, candidateBytes);
    reference = larger(reference, referenceBytes);
  }

  private static @Nullable Long larger(@Nullable Long known, @Nullable Long found) {
    if (found == null || found < 0) return known;
    return known == null ? found : Long.valueOf(Math.max(known, found));
  }

  /** Bytes; null if unknown. */
  @Nullable Long candidate() {
    return candidate;
  }

  /** Bytes; null if unknown. */
  @Nullable Long reference() {
    return reference;
  }

  /**
   * Whether the candidate held so many times what the reference did, and at least as much as two
   * copies of its arguments and results take. A reference that works in place returns what it was
   * given; a candidate may return a copy.
   *
   * @param leastBytes of arguments and results; null if unknown
   * @param resultBytes of results alone; null if unknown
   */
  boolean large(@Nullable Long leastBytes, @Nullable Long resultBytes) {
    Long needed = larger(leastBytes, resultBytes);
    return candidate != null
        && reference != null
        && candidate >= LARGE_WORKSPACE * Math.max(SMALL_BYTES, reference)
        && (needed == null || candidate >= COPIES * needed);
  }
}

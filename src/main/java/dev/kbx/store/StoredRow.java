package dev.kbx.store;

import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Verdict;

/**
 * What analyses need of a verdict, as stored.
 *
 * @param json a {@link BriefVerdict}; of an earlier version the whole {@link Verdict}
 * @param whole whether it is whole
 */
public record StoredRow(String json, boolean whole) {
  /** Parses it. */
  public BriefVerdict verdict() {
    if (!whole) return BriefVerdict.read(json);
    return BriefVerdict.of(new Stored(0, json).verdict());
  }
}

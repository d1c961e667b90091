package dev.kbx.store;

import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import tools.jackson.databind.ObjectReader;

/**
 * What analyses need of a verdict, as stored.
 *
 * @param position place of the candidate in its run
 * @param json a {@link BriefVerdict}; of an earlier version the whole {@link Verdict}
 * @param whole whether it is whole
 */
public record StoredRow(int position, String json, boolean whole) {
  private static final ObjectReader WHOLE = Json.mapper().readerFor(Verdict.class);

  /** Parses it. */
  public BriefVerdict verdict() {
    if (!whole) return BriefVerdict.read(json);
    Verdict verdict = WHOLE.readValue(json);
    return BriefVerdict.of(verdict);
  }
}

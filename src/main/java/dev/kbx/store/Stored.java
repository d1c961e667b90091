package dev.kbx.store;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Provenance;
import dev.kbx.verdict.Verdict;
import tools.jackson.databind.ObjectReader;

/**
 * A verdict as stored.
 *
 * @param position place of the candidate in its run
 * @param json one object in one line
 */
public record Stored(int position, String json) {
  private static final ObjectReader PROVENANCE = Json.mapper().readerFor(Provenance.class);
  private static final ObjectReader JUDGEMENT = Json.mapper().readerFor(Judgement.class);

  /**
   * Parses the verdict. Reading the text once for each of its two parts takes half the time of
   * reading it once into a buffer of tokens, as flattened records do.
   */
  public Verdict verdict() {
    return new Verdict(PROVENANCE.readValue(json), JUDGEMENT.readValue(json));
  }
}

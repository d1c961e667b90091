package dev.kbx.store;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;

/**
 * A verdict as stored.
 *
 * @param position place of the candidate in its run
 * @param json one object in one line
 */
public record Stored(int position, String json) {
  /** Parses the verdict. */
  public Verdict verdict() {
    return Json.mapper().readValue(json, Verdict.class);
  }
}

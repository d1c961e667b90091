package dev.kbx.store;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;

/**
 * A verdict as it lies in the store.
 *
 * @param position place of the candidate in its run
 * @param json one object in one line
 */
public record Stored(int position, String json) {
  /** Reads it. */
  public Verdict verdict() {
    return Json.mapper().readValue(json, Verdict.class);
  }
}

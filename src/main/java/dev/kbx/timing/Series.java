package dev.kbx.timing;

import dev.kbx.worker.OracleMessage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A series of rounds of a size, all timed in the same way, and its state so far.
 *
 * @param lead run-ahead of the host when a call begins
 * @param recorded the calls recorded as CUDA graphs; null if they are launched
 */
record Series(
    OracleMessage.PrepareSize.Phase phase,
    HostRunAhead lead,
    PairedSamples samples,
    Conditions conditions,
    @Nullable JsonNode recorded) {
  /**
   * @param sizes number of sizes of the task
   */
  static Series launched(HostRunAhead lead, int sizes) {
    return new Series(
        OracleMessage.PrepareSize.Phase.LAUNCHED,
        lead,
        new PairedSamples(sizes),
        new Conditions(),
        null);
  }

  /**
   * @param sizes number of sizes of the task
   */
  static Series replayed(JsonNode recorded, int sizes) {
    return new Series(
        OracleMessage.PrepareSize.Phase.REPLAYED,
        HostRunAhead.GRAPHS,
        new PairedSamples(sizes),
        new Conditions(),
        recorded);
  }
}

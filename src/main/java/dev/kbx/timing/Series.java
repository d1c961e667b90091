package dev.kbx.timing;

import dev.kbx.worker.OracleMessage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One series of rounds of a size, all timed alike: what came of them so far.
 *
 * @param lead how far the host is ahead when a call begins
 * @param recorded the calls that were recorded as CUDA graphs; null where they are launched
 */
record Series(
    OracleMessage.PrepareSize.Phase phase,
    HostRunAhead lead,
    PairedSamples samples,
    Conditions conditions,
    @Nullable JsonNode recorded) {
  /**
   * @param sizes that the candidate is timed on
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
   * @param sizes that the candidate is timed on
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

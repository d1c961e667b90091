package dev.kbx.timing;

import dev.kbx.worker.OracleMessage.PrepareSize.Phase;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A series of rounds of a size, all timed in the same way, and its state so far. */
final class Series {
  private final Phase phase;
  private final int sizes;
  private final DeviceStates conditions = new DeviceStates();
  private final @Nullable JsonNode recorded;
  private HostRunAhead lead;
  private PairedSamples samples;

  private Series(Phase phase, HostRunAhead lead, int sizes, @Nullable JsonNode recorded) {
    this.phase = phase;
    this.lead = lead;
    this.sizes = sizes;
    this.recorded = recorded;
    this.samples = new PairedSamples(sizes);
  }

  /**
   * @param sizes number of sizes of the task
   */
  static Series launched(HostRunAhead lead, int sizes) {
    return new Series(Phase.LAUNCHED, lead, sizes, null);
  }

  /**
   * @param recorded the calls recorded as CUDA graphs
   * @param sizes number of sizes of the task
   */
  static Series replayed(JsonNode recorded, int sizes) {
    return new Series(Phase.REPLAYED, HostRunAhead.GRAPHS, sizes, recorded);
  }

  /**
   * Adds a round. If the device waits for the host in many, the series begins anew with a longer
   * run-ahead, on both sides: such a time is that of a slow host, not of a kernel.
   *
   * @param adapts whether it may begin anew
   */
  void add(Round round, boolean adapts) {
    samples.add(round);
    if (adapts && lead.hasLonger() && samples.oftenHostBound()) {
      lead = lead.longer();
      samples = new PairedSamples(sizes);
    }
  }

  Phase phase() {
    return phase;
  }

  /** Run-ahead of the host when a call begins. */
  HostRunAhead lead() {
    return lead;
  }

  PairedSamples samples() {
    return samples;
  }

  DeviceStates conditions() {
    return conditions;
  }

  /** The calls recorded as CUDA graphs; null if they are launched. */
  @Nullable JsonNode recorded() {
    return recorded;
  }
}

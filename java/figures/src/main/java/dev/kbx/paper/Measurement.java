package dev.kbx.paper;

import dev.kbx.analysis.Inclusion;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.RunInfo;
import java.util.List;

/**
 * How the figures of some runs were measured: what a reviewer asks for.
 *
 * @param runs with their settings
 * @param entered which candidates were counted, and which were not
 * @param conditions under which they were judged
 * @param floors known noise floors of the devices
 */
public record Measurement(
    List<RunInfo> runs,
    Inclusion entered,
    MeasurementConditions conditions,
    List<NoiseFloor> floors) {
  /** The title of the appendix. */
  static final String TITLE = "How this was measured";

  public Measurement {
    runs = List.copyOf(runs);
    floors = List.copyOf(floors);
  }

  /** Whether the runs are results as others published them: never only some of them. */
  boolean asPublished() {
    return runs.stream().anyMatch(run -> run.published() != null);
  }
}

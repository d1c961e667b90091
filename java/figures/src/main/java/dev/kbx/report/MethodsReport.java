package dev.kbx.report;

import dev.kbx.analysis.TrajectoryRow;
import java.util.List;

/**
 * What the report of a run shows of its methods.
 *
 * @param rows all trajectories that have ended
 * @param trajectories those that are shown with their texts, as many as a page can hold
 */
public record MethodsReport(List<TrajectoryRow> rows, List<Trajectory> trajectories) {
  public MethodsReport {
    rows = List.copyOf(rows);
    trajectories = List.copyOf(trajectories);
  }
}

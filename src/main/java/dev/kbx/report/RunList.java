package dev.kbx.report;

import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** Runs as a table, one a line, never truncated, so that ids can be copied. */
public final class RunList {
  private RunList() {}

  /**
   * The lines, with a heading.
   *
   * @param judged number of verdicts of a run
   */
  public static List<String> lines(List<RunInfo> runs, ToLongFunction<RunInfo> judged) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("RUN", "STATE", "JUDGED", "SUITE", "DEVICE", "SOURCES"));
    for (RunInfo run : runs) {
      rows.add(
          List.of(
              run.id(),
              state(run),
              judged.applyAsLong(run) + "/" + run.candidates(),
              run.suite(),
              run.device().name(),
              String.join(" ", run.sources())));
    }
    return new Grid("llrlll", rows).lines(Integer.MAX_VALUE);
  }

  private static String state(RunInfo run) {
    if (run.finished() == null) return "cut off";
    return run.published() == null ? "complete" : "as published";
  }
}

package dev.kbx.report;

import static java.util.Objects.requireNonNullElse;

import dev.kbx.document.Grid;
import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/** Runs as a table, one a line, never truncated, so that ids can be copied. */
public final class RunList {
  private RunList() {}

  /**
   * The lines, with a heading.
   *
   * @param judged number of verdicts of a run
   * @param active whether a process judges an unfinished run now
   */
  public static List<String> lines(
      List<RunInfo> runs, ToLongFunction<RunInfo> judged, Predicate<RunInfo> active) {
    List<List<String>> rows = new ArrayList<>();
    boolean named = runs.stream().anyMatch(run -> run.name() != null);
    rows.add(row(named, "NAME", "RUN", "STATE", "JUDGED", "SUITE", "DEVICE", "SOURCES"));
    for (RunInfo run : runs) {
      rows.add(
          row(
              named,
              requireNonNullElse(run.name(), ""),
              run.id(),
              state(run, active),
              judged.applyAsLong(run) + (run.neverEnds() ? "" : "/" + run.candidates()),
              run.suite(),
              run.device().name(),
              String.join(" ", run.sources())));
    }
    return new Grid(named ? "lllrlll" : "llrlll", rows).lines(Integer.MAX_VALUE);
  }

  private static List<String> row(boolean named, String name, String... others) {
    List<String> row = new ArrayList<>(List.of(others));
    if (named) row.add(1, name);
    return row;
  }

  private static String state(RunInfo run, Predicate<RunInfo> active) {
    if (run.neverEnds()) return "service";
    if (run.finished() == null) return active.test(run) ? "in progress" : "cut off";
    return run.published() == null ? "complete" : "as published";
  }
}

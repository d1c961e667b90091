package dev.kbx.section;

import dev.kbx.analysis.Series;
import dev.kbx.document.Counted;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What sections about a {@link Series} say of it. */
public final class SeriesSection {
  private SeriesSection() {}

  /** Run, suite, device, and method, model and round if known. */
  static String title(Series series) {
    RunInfo run = series.run();
    List<String> parts = new ArrayList<>(List.of("Run " + run.id(), run.suite()));
    if (!run.tasks().equals("*")) parts.add(run.tasks());
    String uuid = run.device().uuid();
    parts.add("on " + run.device().name() + (uuid == null ? "" : " " + uuid));
    if (series.method() != null) parts.add("method " + series.method());
    if (series.model() != null) parts.add("model " + series.model());
    if (series.round() != null) parts.add("round " + series.round());
    return String.join(", ", parts);
  }

  /**
   * Notes about the rows.
   *
   * @param notJudged treatment of candidates that were not judged
   */
  static void notes(Blocks blocks, Series series, String notJudged) {
    if (Against.of(series.run().baseline()).warm()) blocks.note("Timed with a warm cache.");
    String of = Counted.of(series.candidates(), "candidate");
    if (series.scaled() > 0) {
      blocks.note(
          "Judged on scaled inputs, not on the published sizes: %d of %s.", series.scaled(), of);
    }
    if (series.unfinished() > 0) {
      blocks.note(
          "Cut off, without a verdict: %d of %s of the run.",
          series.unfinished(), Counted.of(series.run().candidates(), "candidate"));
    }
    if (series.notJudged() > 0) {
      blocks.note(
          "Not judged, as kbx or the task failed: %d of %s, which %s.",
          series.notJudged(), of, notJudged);
    }
    String extra = extra(series.extra(), series.tasks());
    if (extra != null) blocks.note(extra);
  }

  /** A note about candidates on variants of published tasks; null without any. */
  public static @Nullable String extra(int candidates, int tasks) {
    if (candidates == 0) return null;
    return "%s outside the %s; not counted."
        .formatted(
            candidates == 1
                ? "1 candidate is for a dtype variant"
                : "%,d candidates are for dtype variants".formatted(candidates),
            Counted.of(tasks, "published task"));
  }

  /** Names of series: the maker, the round, and the run or its device, where these differ. */
  public static final class Names {
    private final MethodNames methods;
    private final boolean rounds;
    private final Map<String, String> runs = new HashMap<>();

    public Names(List<Series> all, MethodNames methods) {
      this.methods = methods;
      rounds = all.stream().map(Series::round).distinct().count() > 1;
      Map<String, RunInfo> byId = new HashMap<>();
      for (Series series : all) byId.put(series.run().id(), series.run());
      if (byId.size() < 2) return;
      boolean devices =
          byId.values().stream().map(run -> run.device().name()).distinct().count() == byId.size();
      byId.forEach((id, run) -> runs.put(id, devices ? run.device().name() : id));
    }

    public String of(Series series) {
      StringBuilder name = new StringBuilder(methods.of(series.method(), series.model()));
      if (rounds && series.round() != null) name.append(", round ").append(series.round());
      String run = runs.get(series.run().id());
      if (run != null) name.append(", ").append(run);
      return name.toString();
    }
  }
}

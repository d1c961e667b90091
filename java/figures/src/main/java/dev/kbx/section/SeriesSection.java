package dev.kbx.section;

import dev.kbx.analysis.Series;
import dev.kbx.document.Counted;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.List;
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
}

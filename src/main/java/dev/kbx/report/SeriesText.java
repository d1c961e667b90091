package dev.kbx.report;

import dev.kbx.analysis.Series;
import dev.kbx.document.Text;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lines about a {@link Series} above and below its figures.
 *
 * @param width columns of the terminal
 */
record SeriesText(int width) {
  /** Run, suite, device; then method, model and round if known. */
  List<String> head(Series series) {
    RunInfo run = series.run();
    String uuid = run.device().uuid();
    List<String> parts = new ArrayList<>(List.of(run.id(), run.suite()));
    if (!run.tasks().equals("*")) parts.add(run.tasks());
    parts.add(run.device().name() + (uuid == null ? "" : " " + uuid));
    List<String> lines = new ArrayList<>();
    lines.add(Text.cut(String.join("  ", parts.stream().map(Text::clean).toList()), width));
    List<String> made = new ArrayList<>();
    add(made, "method", series.method());
    add(made, "model", series.model());
    add(made, "round", series.round());
    if (!made.isEmpty()) lines.add(Text.cut(Text.clean(String.join(", ", made)), width));
    return lines;
  }

  private static void add(List<String> made, String what, @Nullable Object name) {
    if (name != null) made.add(what + " " + name);
  }

  /**
   * Notes about the rows.
   *
   * @param notJudged treatment of candidates that were not judged
   */
  List<String> notes(Series series, String notJudged) {
    List<String> notes = new ArrayList<>();
    if (Against.of(series.run().baseline()).warm()) notes.add("Timed with a warm cache.");
    if (series.scaled() > 0) {
      notes.add(
          "Judged on scaled inputs, not on the published sizes: %d of %s."
              .formatted(series.scaled(), candidates(series.candidates())));
    }
    if (series.unfinished() > 0) {
      notes.add(
          "Cut off, without a verdict: %d of %s of the run."
              .formatted(series.unfinished(), candidates(series.run().candidates())));
    }
    if (series.notJudged() > 0) {
      notes.add(
          "Not judged, as kbx or the task failed: %d of %s, which %s."
              .formatted(series.notJudged(), candidates(series.candidates()), notJudged));
    }
    String extra = Notes.extra(series.extra(), series.tasks());
    if (extra != null) notes.add(extra);
    return notes.stream().flatMap(note -> wrap(note).stream()).toList();
  }

  private static String candidates(int number) {
    return Counted.of(number, "candidate");
  }

  List<String> wrap(String text) {
    return Text.wrap(text, width, Integer.MAX_VALUE);
  }
}

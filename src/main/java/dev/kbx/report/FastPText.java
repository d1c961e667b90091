package dev.kbx.report;

import dev.kbx.analysis.FastP;
import dev.kbx.analysis.FastP.Against;
import dev.kbx.analysis.FastP.Group;
import dev.kbx.analysis.FastP.Pick;
import dev.kbx.analysis.FastP.Point;
import dev.kbx.analysis.GeneralRate;
import dev.kbx.analysis.Series;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@link FastP} for a terminal: a table for each baseline, two lines for each category.
 *
 * @param width columns of the terminal
 */
public record FastPText(int width) {
  private static final String UNKNOWN = "–";

  /** The text, ending in a line break. */
  public String render(FastP fast) {
    SeriesText text = new SeriesText(width);
    Series series = fast.series();
    List<String> lines = new ArrayList<>(text.head(series));
    lines.addAll(
        text.wrap(
            "One candidate a task: %s. %d of %d tasks have one%s."
                .formatted(
                    words(fast.pick()), series.submitted(), series.tasks(), others(series))));
    lines.addAll(
        text.wrap(
            "Correct and more than p times as fast: how many, and percent of the tasks asked for"
                + " with its 95 % interval [ ]."));
    for (Against against : fast.against()) {
      lines.add("");
      lines.addAll(table(against));
    }
    lines.add("");
    lines.addAll(grades(fast.against().getFirst()));
    lines.add("");
    GeneralRate general = fast.against().getFirst().overall().general();
    if (general != null) lines.addAll(text.wrap(general(general, fast)));
    notes(lines, fast, text);
    return String.join("\n", lines) + "\n";
  }

  private static String others(Series series) {
    return series.submitted() == series.tasks()
        ? ""
        : ", the others count as not correct (kbx eval --tasks asks for fewer)";
  }

  private static String words(Pick pick) {
    return switch (pick) {
      case FIRST_SAMPLE -> "the first sample (number 0)";
      case BEST_SAMPLE -> "the best of its samples (the fastest correct one)";
    };
  }

  private List<String> table(Against against) {
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>();
    head.add(Text.clean(against.baseline()));
    for (Point point : against.overall().thresholds()) head.add("fast_" + number(point.p()));
    rows.add(head);
    for (Group group : groups(against)) {
      List<Point> points = group.thresholds();
      rows.add(row(name(group), points.stream().map(FastPText::count)));
      rows.add(row(tasks(group), points.stream().map(FastPText::interval)));
    }
    return new Grid("l" + "r".repeat(head.size() - 1), rows).lines(width);
  }

  private static List<Group> groups(Against against) {
    return Stream.concat(against.categories().stream(), Stream.of(against.overall())).toList();
  }

  /** Those that are correct, however fast, beside those that are so at the general grade. */
  private List<String> grades(Against against) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("however fast", "correct", "general"));
    for (Group group : groups(against)) {
      Point correct = group.thresholds().getFirst();
      rows.add(List.of(name(group), count(correct), count(group.general())));
      rows.add(List.of(tasks(group), interval(correct), interval(group.general())));
    }
    return new Grid("lrr", rows).lines(width);
  }

  private static String name(Group group) {
    return group.category() == null ? "all" : Text.clean(group.category());
  }

  private static String tasks(Group group) {
    return group.tasks() == null ? "of ?" : "of " + group.tasks();
  }

  private static List<String> row(String name, Stream<String> cells) {
    return Stream.concat(Stream.of(name), cells).toList();
  }

  private static String count(@Nullable GeneralRate rate) {
    if (rate == null) return UNKNOWN;
    if (rate.share() == null) return Integer.toString(rate.correct());
    return String.format(Locale.ROOT, "%d %.0f %%", rate.correct(), rate.share() * 100);
  }

  private static String interval(@Nullable GeneralRate rate) {
    if (rate == null || rate.low() == null || rate.high() == null) return "";
    return String.format(Locale.ROOT, "[%.0f–%.0f]", rate.low() * 100, rate.high() * 100);
  }

  /** {@code 0}, {@code 0.5}. */
  private static String number(double p) {
    return p == Math.rint(p) ? Long.toString(Math.round(p)) : Double.toString(p);
  }

  /** {@code 62 35 %}; only the count if the number of tasks is unknown. */
  private static String count(Point point) {
    if (point.faster() == null) return UNKNOWN;
    if (point.share() == null) return Long.toString(point.faster());
    return String.format(Locale.ROOT, "%d %.0f %%", point.faster(), point.share() * 100);
  }

  private static String interval(Point point) {
    if (point.low() == null || point.high() == null) return "";
    return String.format(Locale.ROOT, "[%.0f–%.0f]", point.low() * 100, point.high() * 100);
  }

  /** {@code At the general grade 33 of the 40 correct ones hold, 19 % [13–26] of all tasks.} */
  private static String general(GeneralRate general, FastP fast) {
    int correct = fast.against().getFirst().overall().correct();
    String share = RateText.share(general);
    return "At the general grade %d of the %d correct ones hold%s."
        .formatted(general.correct(), correct, share.isEmpty() ? "" : share + " of all tasks");
  }

  private static void notes(List<String> lines, FastP fast, SeriesText text) {
    if (fast.untimed() != null) {
      lines.addAll(text.wrap("Nothing was timed: %s.".formatted(Text.clean(fast.untimed()))));
    }
    for (Against against : fast.against()) {
      Group all = against.overall();
      if (all.unknown() == 0) continue;
      lines.addAll(
          text.wrap(
              "%s unknown: %d of %d correct candidates have no speedup against %s."
                  .formatted(
                      UNKNOWN, all.unknown(), all.correct(), Text.clean(against.baseline()))));
    }
    if (fast.laterFirst() > 0) {
      lines.addAll(
          text.wrap(
              "Tasks whose first sample with a verdict has another number than 0: %d."
                  .formatted(fast.laterFirst())));
    }
    if (fast.against().getFirst().categories().stream().anyMatch(g -> g.tasks() == null)) {
      lines.addAll(
          text.wrap(
              "of ?: the suite is not here as the run met it; how many tasks a category has is"
                  + " not known."));
    }
    lines.addAll(text.notes(fast.series(), "count as not correct where they stand for a task"));
    if (lines.getLast().isEmpty()) lines.removeLast();
  }
}

package dev.kbx.section;

import dev.kbx.analysis.FastP;
import dev.kbx.analysis.FastP.Against;
import dev.kbx.analysis.FastP.Group;
import dev.kbx.analysis.FastP.Point;
import dev.kbx.analysis.Grades;
import dev.kbx.analysis.Series;
import dev.kbx.document.Axes;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** {@link FastP}: a table for each baseline. */
public final class FastPSection {
  private FastPSection() {}

  /** One series by category. */
  public static Section of(FastP fast) {
    Blocks blocks = new Blocks();
    Series series = fast.series();
    blocks.prose(
        "One candidate a task: %s. %d of %d tasks have one%s.",
        switch (fast.pick()) {
          case FIRST_SAMPLE -> "the first sample (number 0)";
          case BEST_SAMPLE -> "the best of its samples (the fastest correct one)";
        },
        series.submitted(),
        series.tasks(),
        series.submitted() == series.tasks() ? "" : "; shares are of these");
    grades(blocks, fast.against().getFirst());
    for (Against against : fast.against()) {
      List<Column.Of<Group>> columns = new ArrayList<>(groupColumns());
      columns.addAll(thresholds(against, each -> each));
      blocks.table(
          "fastp-" + slug(against.baseline()),
          Captions.fastP(against.baseline()) + " 95 % intervals: Wilson.",
          columns,
          groups(against));
    }
    notes(blocks, fast);
    return blocks.section("speed", SeriesSection.title(series));
  }

  private record Row(String name, FastP fast, Against against) {}

  /** Several series beside each other, over all categories. */
  public static Section of(List<FastP> all, MethodNames methods) {
    List<FastP> timed = all.stream().filter(each -> each.untimed() == null).toList();
    SeriesSection.Names names =
        new SeriesSection.Names(timed.stream().map(FastP::series).toList(), methods);
    List<Row> rows = new ArrayList<>();
    for (FastP fast : timed) {
      String name = names.of(fast.series());
      fast.against().forEach(against -> rows.add(new Row(name, fast, against)));
    }
    Blocks blocks = new Blocks();
    rows.stream()
        .map(row -> row.against.baseline())
        .distinct()
        .forEach(baseline -> {
          List<Row> own =
              rows.stream().filter(row -> row.against.baseline().equals(baseline)).toList();
          List<Column.Of<Row>> columns = new ArrayList<>();
          columns.add(Column.text("candidates", Row::name));
          columns.add(
              Column.number(
                  "tasks tried",
                  row -> Cell.part(row.fast.series().submitted(), row.fast.series().tasks())));
          columns.addAll(thresholds(own.getFirst().against, row -> row.against.overall()));
          blocks.table(
              "fastp-" + slug(baseline),
              Captions.fastP(baseline)
                  + " 95 % intervals: Wilson. Tasks tried: of those asked for.",
              columns,
              own);
        });
    return blocks.section("speed", "Speed");
  }

  private static List<Group> groups(Against against) {
    List<Group> groups = new ArrayList<>(against.categories());
    groups.removeIf(group -> group.tasks() == 0);
    groups.add(against.overall());
    return groups;
  }

  private static List<Column.Of<Group>> groupColumns() {
    return List.of(
        Column.text("category", each -> each.category() == null ? "all" : each.category()),
        Column.number("tried", FastPSection::coverage));
  }

  private static Cell coverage(Group group) {
    return group.asked() == null
        ? Cell.count(group.tasks())
        : Cell.part(group.tasks(), group.asked());
  }

  private static <T> List<Column.Of<T>> thresholds(Against against, Function<T, Group> group) {
    List<Column.Of<T>> columns = new ArrayList<>();
    List<Point> points = against.overall().thresholds();
    for (int i = 0; i < points.size(); i++) {
      int index = i;
      columns.add(
          Column.number(
              "fast_" + Axes.number(points.get(i).p()),
              row -> cell(group.apply(row).thresholds().get(index))));
    }
    return columns;
  }

  /** The cell of a point: only the count where the number of tasks is unknown. */
  private static Cell cell(Point point) {
    if (point.share() != null) return Cell.share(point.share(), point.low(), point.high());
    return point.faster() == null ? Cell.missing() : Cell.text(point.faster().toString());
  }

  /** Adds the correct candidates, however fast, beside those correct at the general grade. */
  private static void grades(Blocks blocks, Against against) {
    List<Column.Of<Group>> columns = new ArrayList<>(groupColumns());
    columns.add(Column.number("correct", each -> Cell.count(each.correct())));
    columns.add(Column.number("share", each -> cell(each.thresholds().getFirst())));
    columns.add(Column.number("general", each -> general(each.general())));
    columns.add(Column.number("share", each -> generalShare(each.general())));
    blocks.table(
        "correct", "Correct, however fast. " + Captions.grades(), columns, groups(against));
  }

  private static Cell general(Grades.@Nullable GeneralRate rate) {
    return rate == null ? Cell.missing() : Cell.text(String.valueOf(rate.correct()));
  }

  private static Cell generalShare(Grades.@Nullable GeneralRate rate) {
    return rate == null ? Cell.missing() : Cell.share(rate.share(), rate.low(), rate.high());
  }

  private static void notes(Blocks blocks, FastP fast) {
    if (fast.untimed() != null) blocks.note("Nothing was timed: %s.", fast.untimed());
    for (Against against : fast.against()) {
      Group all = against.overall();
      if (all.unknown() == 0) continue;
      blocks.note(
          "%s unknown: %d of %d correct candidates have no speedup against %s.",
          Cell.missing().text(), all.unknown(), all.correct(), against.baseline());
    }
    if (fast.laterFirst() > 0) {
      blocks.note(
          "Tasks whose first sample with a verdict has another number than 0: %d.",
          fast.laterFirst());
    }
    if (fast.against().getFirst().categories().stream().anyMatch(g -> g.asked() == null)) {
      blocks.note(
          "The suite is not here as the run met it; how many tasks a category has is not known.");
    }
    SeriesSection.notes(blocks, fast.series(), "count as not correct where they stand for a task");
  }

  private static String slug(String name) {
    String slug = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
    return slug.replaceAll("^-|-$", "");
  }
}

package dev.kbx.section;

import dev.kbx.analysis.PassK;
import dev.kbx.analysis.PassK.At;
import dev.kbx.analysis.PassK.Group;
import dev.kbx.analysis.PassK.Measure;
import dev.kbx.analysis.Series;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import dev.kbx.stats.TaskMean;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** {@link PassK} of one series: a table for each criterion. */
public final class PassKSection {
  private PassKSection() {}

  public static Section of(PassK pass) {
    Blocks blocks = new Blocks();
    Series series = pass.series();
    blocks.prose(
        "%s for %d of %s. pass@k, the chance that one of k samples passes, and pass^k, that all of"
            + " them do: mean over the N tasks with k judged samples or more, as '%% of N', with"
            + " its 95 %% interval where tasks differ.",
        Counted.of(series.candidates(), "candidate"),
        series.submitted(),
        Counted.of(series.tasks(), "task"));
    pass.measures().forEach(measure -> measure(blocks, measure));
    notes(blocks, pass);
    return blocks.section("passk", SeriesSection.title(series));
  }

  private static void measure(Blocks blocks, Measure measure) {
    String name = measure.pass().label();
    Group overall = measure.overall();
    if (overall == null) {
      blocks.note("%s: unknown: %s.", name, String.valueOf(measure.unknown()));
      return;
    }
    List<Group> groups = new ArrayList<>(measure.categories());
    groups.add(overall);
    List<Column.Of<Group>> columns = new ArrayList<>();
    columns.add(Column.text(name, each -> each.category() == null ? "all" : each.category()));
    for (int i = 0; i < overall.at().size(); i++) {
      int index = i;
      columns.add(
          Column.number("pass@" + overall.at().get(i).k(), each -> value(each.at().get(index))));
    }
    for (int i = 0; i < overall.at().size(); i++) {
      int index = i;
      At at = overall.at().get(i);
      if (at.k() == 1 || at.allPass() == null) continue;
      columns.add(Column.number("pass^" + at.k(), each -> allPass(each.at().get(index))));
    }
    blocks.table("pass-" + name, "", columns, groups);
    for (At at : overall.at()) {
      if (at.unknown() == null) continue;
      blocks.note("%s pass@%d unknown: %s.", Cell.missing().text(), at.k(), at.unknown());
    }
  }

  /** {@code 62.1 % of 100}. */
  private static Cell value(At at) {
    String share = Cell.share(at.value(), at.low(), at.high()).text();
    return at.value() == null && at.tasks() == 0
        ? Cell.missing()
        : Cell.text("%s of %d".formatted(share, at.tasks()));
  }

  private static Cell allPass(At at) {
    TaskMean all = at.allPass();
    if (all == null) return Cell.missing();
    return Cell.text(
        "%s of %d".formatted(Cell.share(all.value(), all.low(), all.high()).text(), at.tasks()));
  }

  private static void notes(Blocks blocks, PassK pass) {
    int[] covered =
        pass.measures().stream()
            .map(Measure::overall)
            .filter(Objects::nonNull)
            .flatMap(group -> group.at().stream())
            .mapToInt(At::tasks)
            .filter(tasks -> tasks > 0)
            .sorted()
            .distinct()
            .toArray();
    if (covered.length > 1) {
      blocks.note(
          "Different k cover different tasks, from %d to %d: their figures do not compare.",
          covered[0], covered[covered.length - 1]);
    }
    SeriesSection.notes(blocks, pass.series(), "are no samples here");
  }
}

package dev.kbx.report;

import dev.kbx.analysis.PassK;
import dev.kbx.analysis.PassK.At;
import dev.kbx.analysis.PassK.Group;
import dev.kbx.analysis.PassK.Measure;
import dev.kbx.analysis.Series;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * {@link PassK} for a terminal: a table for each criterion, two lines for each category.
 *
 * @param width columns of the terminal
 */
public record PassKText(int width) {
  private static final String UNKNOWN = "–";

  /** Columns that fit 80 characters; more go into further tables. */
  private static final int COLUMNS = 4;

  /** The text, ending in a line break. */
  public String render(PassK pass) {
    SeriesText text = new SeriesText(width);
    Series series = pass.series();
    List<String> lines = new ArrayList<>(text.head(series));
    lines.addAll(
        text.wrap(
            "%s for %d of %s. pass@k: mean over the N tasks with k judged samples"
                    .formatted(
                        Counted.of(series.candidates(), "candidate"),
                        series.submitted(),
                        Counted.of(series.tasks(), "task"))
                + " or more, as '% of N'; [ ]: its 95 % interval, where tasks differ."));
    for (Measure measure : pass.measures()) {
      lines.add("");
      lines.addAll(measure(measure, pass.ks().size(), text));
    }
    List<String> notes = notes(pass, text);
    if (!notes.isEmpty()) lines.add("");
    lines.addAll(notes);
    return String.join("\n", lines) + "\n";
  }

  private List<String> measure(Measure measure, int ks, SeriesText text) {
    Group overall = measure.overall();
    if (overall == null) {
      String why = Text.clean(measure.unknown());
      return text.wrap("%s: unknown: %s.".formatted(measure.pass().label(), why));
    }
    List<Group> groups = Stream.concat(measure.categories().stream(), Stream.of(overall)).toList();
    List<String> lines = new ArrayList<>();
    for (int from = 0; from < ks; from += COLUMNS) {
      lines.addAll(table(measure.pass().label(), groups, from, Math.min(ks, from + COLUMNS)));
    }
    for (String why : reasons(overall)) lines.addAll(text.wrap(why));
    return lines;
  }

  private List<String> table(String name, List<Group> groups, int from, int to) {
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(name));
    groups.getFirst().at().subList(from, to).forEach(at -> head.add("pass@" + at.k()));
    rows.add(head);
    for (Group group : groups) {
      List<At> at = group.at().subList(from, to);
      String category = group.category() == null ? "all" : Text.clean(group.category());
      rows.add(row(category, at.stream().map(PassKText::value)));
      rows.add(row("", at.stream().map(PassKText::interval)));
    }
    return new Grid("l" + "r".repeat(to - from), rows).lines(width);
  }

  private static List<String> row(String name, Stream<String> cells) {
    return Stream.concat(Stream.of(name), cells).toList();
  }

  /** {@code 62.1 % of 100}. */
  private static String value(At at) {
    String value =
        at.value() == null ? UNKNOWN : String.format(Locale.ROOT, "%.1f %%", at.value() * 100);
    return value + " of " + at.tasks();
  }

  private static String interval(At at) {
    if (at.low() == null || at.high() == null) return "";
    return String.format(Locale.ROOT, "[%.1f–%.1f]", at.low() * 100, at.high() * 100);
  }

  /** Why figures of all tasks are unknown. */
  private static List<String> reasons(Group overall) {
    return overall.at().stream()
        .filter(at -> at.unknown() != null)
        .map(at -> "%s pass@%d unknown: %s.".formatted(UNKNOWN, at.k(), at.unknown()))
        .toList();
  }

  private static List<String> notes(PassK pass, SeriesText text) {
    List<String> notes = new ArrayList<>();
    Set<Integer> covered = new LinkedHashSet<>();
    pass.measures().stream()
        .map(Measure::overall)
        .filter(Objects::nonNull)
        .flatMap(group -> group.at().stream())
        .map(At::tasks)
        .filter(tasks -> tasks > 0)
        .forEach(covered::add);
    if (covered.size() > 1) {
      notes.addAll(
          text.wrap(
              "Different k cover different tasks, from %d to %d: their figures do not compare."
                  .formatted(Collections.min(covered), Collections.max(covered))));
    }
    notes.addAll(text.notes(pass.series(), "are no samples here"));
    return notes;
  }
}

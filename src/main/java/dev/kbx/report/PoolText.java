package dev.kbx.report;

import dev.kbx.analysis.Entered;
import dev.kbx.analysis.Entered.Made;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.List;

/**
 * Lines about the candidates that an analysis of several runs counts.
 *
 * @param width columns of the terminal
 */
record PoolText(int width) {
  /** Methods and models that are listed; more are summed up. */
  private static final int LISTED = 12;

  private static final int LETTERS = 26;

  private static final String UNSTATED = "not stated";

  private static final String AS_PUBLISHED = "as published";

  /** Columns beside method and model. */
  private static final int COUNTS = 38;

  /** Columns that a name always gets. */
  private static final int SHORTEST = 12;

  /** Runs, counts, what was left out and why, and who made what. */
  List<String> head(Entered entered) {
    List<String> lines = counts(entered);
    if (entered.made().size() > 1 || entered.made().stream().anyMatch(PoolText::isNamed)) {
      lines.addAll(new Grid("llrrr", made(entered, LISTED)).lines(width));
      int more = entered.made().size() - LISTED;
      if (more > 0) lines.add("… and %d more, in --json".formatted(more));
    }
    return lines;
  }

  /** The same with all of who made what, each with its {@link #letter}. */
  List<String> headWithLetters(Entered entered) {
    List<String> lines = counts(entered);
    List<List<String>> rows = new ArrayList<>();
    for (List<String> row : made(entered, Integer.MAX_VALUE)) {
      List<String> cells = new ArrayList<>(List.of(rows.isEmpty() ? "" : letter(rows.size() - 1)));
      cells.addAll(row);
      rows.add(cells);
    }
    lines.addAll(new Grid("lllrrr", rows).lines(width));
    return lines;
  }

  /** A short name of a method and model, by its index: A, B, …, Z, AA, … */
  static String letter(int index) {
    String last = Character.toString('A' + index % LETTERS);
    return index < LETTERS ? last : letter(index / LETTERS - 1) + last;
  }

  private List<String> counts(Entered entered) {
    List<String> lines = new ArrayList<>();
    lines.add(
        Text.cut(
            Text.clean(entered.suite()) + "  " + Text.clean(String.join(" ", entered.runs())),
            width));
    lines.addAll(
        wrap(
            "%s of %d of %s%s."
                .formatted(
                    Counted.of(entered.candidates(), "judged candidate"),
                    entered.tasks(),
                    Counted.of(entered.asked(), "task"),
                    entered.devices().isEmpty()
                        ? ""
                        : ", on " + Text.clean(String.join(", ", entered.devices())))));
    List<String> left = left(entered);
    if (!left.isEmpty()) lines.addAll(wrap("Left out: " + String.join("; ", left) + "."));
    lines.addAll(wrap(grades(entered.grades())));
    if (entered.baselines().size() > 1) {
      lines.addAll(
          wrap(
              "Speedups are against different baselines, %s: they are not compared."
                  .formatted(Text.clean(String.join(" and ", entered.baselines())))));
    }
    return lines;
  }

  /** What correct means in all that follows. */
  private static String grades(List<String> grades) {
    if (grades.size() > 1) {
      return "Correct means something else in each run: their grades are %s."
          .formatted(Text.clean(String.join(" and ", grades)));
    }
    String grade = Text.clean(grades.getFirst());
    return grade.equals(AS_PUBLISHED)
        ? "Correct means so as published."
        : "Correct means at the %s grade.".formatted(grade);
  }

  private static List<String> left(Entered entered) {
    List<String> left = new ArrayList<>();
    add(left, entered.notJudged(), "not judged, as kbx or the task failed");
    add(left, entered.variants(), "on variants of published tasks");
    add(left, entered.repeated(), "the same candidate in another run");
    add(left, entered.earlierRounds(), "of an earlier round");
    return left;
  }

  private static void add(List<String> left, int count, String why) {
    if (count > 0) left.add(count + " " + why);
  }

  private static boolean isNamed(Made made) {
    return made.method() != null || made.model() != null;
  }

  private List<List<String>> made(Entered entered, int most) {
    int name = names(entered) <= width - COUNTS ? width : Math.max(SHORTEST, (width - COUNTS) / 2);
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("method", "model", "candidates", "tasks", "per task"));
    for (Made made : entered.made().subList(0, Math.min(most, entered.made().size()))) {
      rows.add(
          List.of(
              made.method() == null ? UNSTATED : Text.cutMiddle(Text.clean(made.method()), name),
              made.model() == null ? UNSTATED : Text.cutMiddle(Text.clean(made.model()), name),
              Integer.toString(made.candidates()),
              Integer.toString(made.tasks()),
              Integer.toString(made.samples())));
    }
    return rows;
  }

  /** Columns of the longest method and the longest model. */
  private static int names(Entered entered) {
    int method = 0;
    int model = 0;
    for (Made made : entered.made()) {
      method = Math.max(method, Text.columns(Text.clean(made.method())));
      model = Math.max(model, Text.columns(Text.clean(made.model())));
    }
    return Math.max(method, UNSTATED.length()) + Math.max(model, UNSTATED.length());
  }

  List<String> wrap(String text) {
    return Text.wrap(text, width, Integer.MAX_VALUE);
  }
}

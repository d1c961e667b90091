package dev.kbx.report;

import dev.kbx.analysis.Entered;
import dev.kbx.analysis.Entered.Made;
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

  /** Runs, counts, what was left out and why, and who made what. */
  List<String> head(Entered entered) {
    List<String> lines = new ArrayList<>();
    lines.add(
        Text.cut(
            Text.clean(entered.suite()) + "  " + Text.clean(String.join(" ", entered.runs())),
            width));
    lines.addAll(
        wrap(
            "%s of %d of %s, on %s."
                .formatted(
                    Counted.of(entered.candidates(), "judged candidate"),
                    entered.tasks(),
                    Counted.of(entered.asked(), "task"),
                    Text.clean(String.join(", ", entered.devices())))));
    List<String> left = left(entered);
    if (!left.isEmpty()) lines.addAll(wrap("Left out: " + String.join("; ", left) + "."));
    if (entered.made().size() > 1 || entered.made().stream().anyMatch(PoolText::isNamed)) {
      lines.addAll(new Grid("llrrr", made(entered)).lines(width));
      int more = entered.made().size() - LISTED;
      if (more > 0) lines.add("… and %d more, in --json".formatted(more));
    }
    return lines;
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

  private static List<List<String>> made(Entered entered) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("method", "model", "candidates", "tasks", "most a task"));
    for (Made made : entered.made().subList(0, Math.min(LISTED, entered.made().size()))) {
      rows.add(
          List.of(
              made.method() == null ? "not stated" : Text.clean(made.method()),
              made.model() == null ? "not stated" : Text.cut(Text.clean(made.model()), 30),
              Integer.toString(made.candidates()),
              Integer.toString(made.tasks()),
              Integer.toString(made.samples())));
    }
    return rows;
  }

  List<String> wrap(String text) {
    return Text.wrap(text, width, Integer.MAX_VALUE);
  }
}

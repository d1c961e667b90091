package dev.kbx.section;

import dev.kbx.analysis.Inclusion;
import dev.kbx.analysis.Inclusion.Made;
import dev.kbx.document.Block;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The candidates that an analysis counts, those that it leaves out, and what correct means. */
public final class InclusionSection {
  /** Methods and models that are listed. */
  private static final int LISTED = 12;

  private static final String AS_PUBLISHED = "as published";

  private InclusionSection() {}

  /** The counts, and a table of methods and models if any is stated. */
  public static Section of(Inclusion entered) {
    Blocks blocks = new Blocks();
    blocks.add(new Block.Prose(counts(entered)));
    if (entered.made().size() > 1
        || entered.made().stream()
            .anyMatch(made -> made.method() != null || made.model() != null)) {
      made(blocks, entered.made());
    }
    return blocks.section("entered", entered.suite() + ", " + runs(entered));
  }

  private static boolean isPublished(Inclusion entered) {
    return entered.grades().equals(List.of(AS_PUBLISHED));
  }

  private static String runs(Inclusion entered) {
    return (entered.runs().size() == 1 ? "run " : "runs ") + String.join(", ", entered.runs());
  }

  private static String counts(Inclusion entered) {
    List<String> sentences = new ArrayList<>();
    sentences.add(
        "%s of %s%s."
            .formatted(
                Counted.of(
                    entered.candidates(),
                    isPublished(entered) ? "published result" : "judged candidate"),
                entered.ofChanges()
                    ? Counted.of(entered.tasks(), "task")
                    : "%d of %s".formatted(entered.tasks(), Counted.of(entered.asked(), "task")),
                entered.devices().isEmpty() ? "" : ", on " + String.join(", ", entered.devices())));
    List<String> left =
        Stream.of(
                left(entered.leftOut().notJudged(), "not judged, as kbx or the task failed"),
                left(entered.leftOut().variants(), "on variants of published tasks"),
                left(entered.leftOut().repeated(), "the same candidate in another run"),
                left(entered.leftOut().earlierRounds(), "of an earlier round"))
            .flatMap(List::stream)
            .toList();
    if (!left.isEmpty()) sentences.add("Left out: " + String.join("; ", left) + ".");
    if (entered.ofChanges()) {
      sentences.add("No rates, as %s.".formatted(RunInfo.Published.NO_RATES));
    }
    sentences.add(grades(entered.grades()));
    if (entered.baselines().size() > 1) {
      sentences.add(
          "Speedups are against different baselines, %s: they are not compared."
              .formatted(String.join(" and ", entered.baselines())));
    }
    return String.join(" ", sentences);
  }

  private static List<String> left(int count, String why) {
    return count == 0 ? List.of() : List.of(count + " " + why);
  }

  /** What correct means in all that follows. */
  private static String grades(List<String> grades) {
    if (grades.size() > 1) {
      return "Correct means something else in each run: their grades are %s."
          .formatted(String.join(" and ", grades));
    }
    return grades.getFirst().equals(AS_PUBLISHED)
        ? "Correct means so as published."
        : "Correct means at the %s grade.".formatted(grades.getFirst());
  }

  private static void made(Blocks blocks, List<Made> made) {
    int more = Math.max(0, made.size() - LISTED);
    blocks.table(
        "made",
        "Candidates by method and model%s."
            .formatted(more == 0 ? "" : ", %d more not shown".formatted(more)),
        List.of(
            Column.text("method", each -> stated(each.method())),
            Column.text("model", each -> stated(each.model())),
            Column.number("candidates", each -> Cell.count(each.candidates())),
            Column.number("tasks", each -> Cell.count(each.tasks())),
            Column.number("per task", each -> Cell.mean(each.perTask()))),
        Blocks.first(LISTED, made));
  }

  private static String stated(@Nullable String name) {
    return name == null ? "not stated" : name;
  }
}

package dev.kbx.paper;

import dev.kbx.analysis.Errors;
import dev.kbx.paper.Tabular.Section;
import dev.kbx.report.AdvisedErrors;
import dev.kbx.report.Text;
import java.util.ArrayList;
import java.util.List;

/** Tables of {@link Errors}: statuses and messages. */
final class ErrorTables {
  private static final int MESSAGES = 12;

  /** Characters of a message. */
  private static final int LONGEST = 90;

  private ErrorTables() {}

  static List<Tabular> of(AdvisedErrors advised) {
    Errors errors = advised.errors();
    List<Tabular> tables = new ArrayList<>();
    List<List<String>> statuses = new ArrayList<>();
    for (Errors.OfStatus each : errors.statuses()) {
      statuses.add(
          List.of(
              each.stage().label(),
              each.status().label(),
              Integer.toString(each.candidates()),
              Integer.toString(each.tasks())));
    }
    if (!statuses.isEmpty()) {
      tables.add(
          new Tabular(
              "errors",
              Section.ERRORS,
              "Failed candidates by the stage and status that decided: %d in all."
                  .formatted(errors.failed()),
              Tabular.columns(2, List.of("stage", "status", "candidates", "tasks")),
              statuses));
    }
    List<List<String>> messages = new ArrayList<>();
    for (Errors.OfMessage each :
        errors.messages().subList(0, Math.min(MESSAGES, errors.messages().size()))) {
      messages.add(
          List.of(
              Text.cutMiddle(Text.clean(each.shape()), LONGEST),
              Integer.toString(each.candidates()),
              Integer.toString(each.tasks())));
    }
    if (!messages.isEmpty()) {
      tables.add(
          new Tabular(
              "messages",
              Section.ERRORS,
              "The most frequent messages; numbers, names and paths are left out.",
              Tabular.columns(1, List.of("message", "candidates", "tasks")),
              messages));
    }
    return tables;
  }
}

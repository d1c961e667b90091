package dev.kbx.paper;

import dev.kbx.analysis.Errors;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Text;
import dev.kbx.report.AdvisedErrors;
import java.util.ArrayList;
import java.util.List;

/** Tables of {@link Errors}: statuses and messages. */
final class ErrorTables {
  private static final int MESSAGES = 12;

  /** Characters of a message. */
  private static final int LONGEST = 90;

  private ErrorTables() {}

  static List<Table> of(AdvisedErrors advised) {
    Errors errors = advised.errors();
    List<Table> tables = new ArrayList<>();
    if (!errors.statuses().isEmpty()) {
      tables.add(
          Table.of(
              "errors",
              "Failed candidates by the stage and status that decided: %d in all."
                  .formatted(errors.failed()),
              List.of(
                  Column.text("stage", each -> each.stage().label()),
                  Column.text("status", each -> each.status().label()),
                  Column.number("candidates", each -> Cell.count(each.candidates())),
                  Column.number("tasks", each -> Cell.count(each.tasks()))),
              errors.statuses()));
    }
    if (!errors.messages().isEmpty()) {
      tables.add(
          Table.of(
              "messages",
              "The most frequent messages; numbers, names and paths are left out.",
              List.of(
                  Column.text("message", each -> Text.cutMiddle(Text.clean(each.shape()), LONGEST)),
                  Column.number("candidates", each -> Cell.count(each.candidates())),
                  Column.number("tasks", each -> Cell.count(each.tasks()))),
              errors.messages().subList(0, Math.min(MESSAGES, errors.messages().size()))));
    }
    return tables;
  }
}

package dev.kbx.report;

import dev.kbx.document.Text;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.TaskVerdict.Control;
import java.util.ArrayList;
import java.util.List;

/**
 * The matrix task × control for a terminal: {@code +} as required, {@code X} not as required,
 * {@code s} skipped, {@code ·} not part of the task. No matrix line is wider than the terminal.
 *
 * @param width columns of the terminal
 */
public record ControlMatrix(int width) {
  private static final int CELL = 3;

  /** The text, ending in a line break: matrix, what went wrong, count. */
  public String render(List<TaskVerdict> verdicts) {
    List<String> columns = ControlColumns.of(verdicts);
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      lines.add(Text.right(String.valueOf(i + 1), CELL) + "  " + columns.get(i));
    }
    int longest = verdicts.stream().mapToInt(v -> v.path().length()).max().orElse(0);
    int names = Math.max(12, Math.min(longest, width - CELL * columns.size()));
    lines.add("");
    lines.add(header(names, columns.size()));
    for (TaskVerdict verdict : verdicts) lines.add(row(verdict, columns, names));
    lines.add("");
    verdicts.forEach(verdict -> complaints(verdict, lines));
    long sound = verdicts.stream().filter(TaskVerdict::ok).count();
    lines.add(
        "%d of %d tasks sound%s"
            .formatted(sound, verdicts.size(), ControlColumns.precision(verdicts)));
    return String.join("\n", lines) + "\n";
  }

  private static String header(int names, int columns) {
    StringBuilder line = new StringBuilder(" ".repeat(names));
    for (int i = 1; i <= columns; i++) line.append(Text.right(String.valueOf(i), CELL));
    return line.toString();
  }

  private static String row(TaskVerdict verdict, List<String> columns, int names) {
    StringBuilder line =
        new StringBuilder(Text.left(Text.cutMiddle(Text.clean(verdict.path()), names), names));
    for (String column : columns) {
      line.append(Text.right(ControlColumns.cell(verdict, column).symbol, CELL));
    }
    return line.toString();
  }

  private static void complaints(TaskVerdict verdict, List<String> lines) {
    if (verdict.problem() != null) lines.add(Text.clean(verdict.problem()));
    for (Control control : verdict.controls()) {
      if (!control.ok()) lines.add(complaint(verdict, control));
    }
    if (!verdict.ok()) lines.add("");
  }

  private static String complaint(TaskVerdict verdict, Control control) {
    return "%s%s: %s control '%s' ended as %s%s"
        .formatted(
            Text.clean(verdict.file()),
            control.line() == null ? "" : ":" + control.line(),
            control.kind().label(),
            Text.clean(control.name()),
            control.status(),
            control.detail() == null ? "" : ": " + Text.clean(control.detail()));
  }
}

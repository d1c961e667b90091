package dev.kbx.report;

import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.TaskVerdict.Control;
import dev.kbx.verdict.TaskVerdict.Kind;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The columns of the matrix task × control. Automatic controls have a column each; the functions of
 * task files share two, since their names differ from task to task.
 */
final class ControlColumns {
  private static final String OWN_POSITIVE = "own positive";
  private static final String OWN_NEGATIVE = "own negative";
  private static final String KERNEL = "Triton kernel";

  private ControlColumns() {}

  /** State of a cell. */
  enum Cell {
    NONE("·"),
    GOOD("+"),
    SKIPPED("s"),
    BAD("X");

    final String symbol;

    Cell(String symbol) {
      this.symbol = symbol;
    }
  }

  /** The columns in use, positive controls first. */
  static List<String> of(List<TaskVerdict> verdicts) {
    Set<String> positive = new LinkedHashSet<>(List.of("reference", OWN_POSITIVE, KERNEL));
    Set<String> automatic = new LinkedHashSet<>();
    for (TaskVerdict verdict : verdicts) {
      for (Control control : verdict.controls()) automatic.add(column(control));
    }
    List<String> columns = new ArrayList<>(positive);
    automatic.stream()
        .filter(c -> !positive.contains(c) && !c.equals(OWN_NEGATIVE))
        .forEach(columns::add);
    columns.add(OWN_NEGATIVE);
    columns.removeIf(c -> !automatic.contains(c));
    return columns;
  }

  /** The controls of a task in a column. */
  static List<Control> in(TaskVerdict verdict, String column) {
    return verdict.controls().stream().filter(c -> column(c).equals(column)).toList();
  }

  static Cell cell(TaskVerdict verdict, String column) {
    List<Control> controls = in(verdict, column);
    if (controls.isEmpty()) return Cell.NONE;
    if (!controls.stream().allMatch(Control::ok)) return Cell.BAD;
    return controls.stream().allMatch(ControlColumns::skipped) ? Cell.SKIPPED : Cell.GOOD;
  }

  /** What the tasks' modules were cast to, to end a sentence: {@code " in fp16"}, or nothing. */
  static String precision(List<TaskVerdict> verdicts) {
    return verdicts.stream()
        .map(TaskVerdict::precision)
        .filter(precision -> precision != null && !precision.equals("fp32"))
        .findFirst()
        .map(" in "::concat)
        .orElse("");
  }

  static boolean skipped(Control control) {
    return "skipped".equals(control.status());
  }

  private static String column(Control control) {
    if (control.kind() == Kind.KERNEL) return KERNEL;
    if (control.name().startsWith("positive_")) return OWN_POSITIVE;
    return control.name().startsWith("negative_") ? OWN_NEGATIVE : control.name();
  }
}

package dev.kbx.section;

import dev.kbx.document.Block;
import dev.kbx.document.Cell;
import dev.kbx.document.Cell.Tone;
import dev.kbx.document.Column;
import dev.kbx.document.Document;
import dev.kbx.document.Section;
import dev.kbx.document.Text;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.TaskVerdict.Control;
import dev.kbx.verdict.TaskVerdict.Kind;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * What {@code kbx tasks verify} found: the matrix task × control, and what each control did.
 * Automatic controls have a column each; the functions of task files share two, since their names
 * differ from task to task.
 */
public final class ControlsSection {
  private static final String OWN_POSITIVE = "own positive";
  private static final String OWN_NEGATIVE = "own negative";
  private static final String KERNEL = "Triton kernel";

  private record Done(TaskVerdict task, Control control) {}

  private ControlsSection() {}

  /** The whole document, for a page. */
  public static Document page(List<TaskVerdict> verdicts, String suite, Verdict.Device device) {
    List<Section> sections = new ArrayList<>();
    Blocks facts = new Blocks();
    facts.prose(
        "Suite %s on %s%s. Controls: %s, of them honest %s, of them Triton kernels %s. Sum of times"
            + " %s.",
        suite,
        device.name(),
        device.arch() == null ? "" : " · " + device.arch(),
        Cell.count(count(verdicts, Kind.POSITIVE, Kind.NEGATIVE, Kind.KERNEL)).text(),
        Cell.count(count(verdicts, Kind.POSITIVE, Kind.KERNEL)).text(),
        Cell.count(count(verdicts, Kind.KERNEL)).text(),
        Cell.seconds(
                verdicts.stream()
                    .map(TaskVerdict::seconds)
                    .filter(Objects::nonNull)
                    .mapToDouble(seconds -> seconds)
                    .sum())
            .text());
    facts.add(matrix(verdicts));
    sections.add(facts.section("matrix", "Tasks and their controls"));
    List<TaskVerdict> unsound = verdicts.stream().filter(each -> !each.ok()).toList();
    if (!unsound.isEmpty()) sections.add(details("unsound", "Not sound", unsound));
    List<TaskVerdict> sound = verdicts.stream().filter(TaskVerdict::ok).toList();
    if (!sound.isEmpty()) sections.add(details("sound", "Sound", sound));
    return new Document("%s of %s".formatted(headline(verdicts), suite), sections);
  }

  /** The matrix alone. */
  public static Section of(List<TaskVerdict> verdicts) {
    return new Section("controls", "Controls", List.of(matrix(verdicts)));
  }

  /** What went wrong, a line each, never broken so that places can be copied; then a total. */
  public static List<String> complaints(List<TaskVerdict> verdicts) {
    List<String> lines = new ArrayList<>(List.of(""));
    for (TaskVerdict verdict : verdicts) {
      if (verdict.problem() != null) lines.add(Text.clean(verdict.problem()));
      for (Control control : verdict.controls()) {
        if (!control.ok()) lines.add(Text.clean(complaint(verdict, control)));
      }
    }
    lines.add(headline(verdicts));
    return lines;
  }

  private static String headline(List<TaskVerdict> verdicts) {
    long sound = verdicts.stream().filter(TaskVerdict::ok).count();
    return "%d of %d tasks sound%s".formatted(sound, verdicts.size(), precision(verdicts));
  }

  /** What the tasks' modules were cast to, to end a sentence: {@code " in fp16"}, or nothing. */
  private static String precision(List<TaskVerdict> verdicts) {
    return verdicts.stream()
        .map(TaskVerdict::precision)
        .filter(precision -> precision != null && !precision.equals("fp32"))
        .findFirst()
        .map(" in "::concat)
        .orElse("");
  }

  private static long count(List<TaskVerdict> verdicts, Kind... kinds) {
    return verdicts.stream()
        .flatMap(verdict -> verdict.controls().stream())
        .filter(control -> List.of(kinds).contains(control.kind()))
        .count();
  }

  private static String complaint(TaskVerdict verdict, Control control) {
    return "%s%s: %s control '%s' ended as %s%s"
        .formatted(
            verdict.file(),
            control.line() == null ? "" : ":" + control.line(),
            control.kind().label(),
            control.name(),
            control.status(),
            control.detail() == null ? "" : ": " + control.detail());
  }

  // ---------------------------------------------------------------- the matrix

  private static Block matrix(List<TaskVerdict> verdicts) {
    List<Column.Of<TaskVerdict>> columns = new ArrayList<>();
    columns.add(Column.text("task", TaskVerdict::path));
    for (String name : columns(verdicts)) {
      columns.add(new Column.Of<>(Column.number(name).turned(), each -> cell(each, name)));
    }
    return Block.Table.of(
        "controls",
        "+ as required, X not as required, s skipped, "
            + Cell.missing().text()
            + " not part of the task.",
        columns,
        verdicts);
  }

  /** The columns in use, positive controls first. */
  private static List<String> columns(List<TaskVerdict> verdicts) {
    Set<String> positive = new LinkedHashSet<>(List.of("reference", OWN_POSITIVE, KERNEL));
    Set<String> used = new LinkedHashSet<>();
    for (TaskVerdict verdict : verdicts) {
      for (Control control : verdict.controls()) used.add(column(control));
    }
    List<String> columns = new ArrayList<>(positive);
    used.stream()
        .filter(name -> !positive.contains(name) && !name.equals(OWN_NEGATIVE))
        .forEach(columns::add);
    columns.add(OWN_NEGATIVE);
    columns.removeIf(name -> !used.contains(name));
    return columns;
  }

  private static String column(Control control) {
    if (control.kind() == Kind.KERNEL) return KERNEL;
    if (control.name().startsWith("positive_")) return OWN_POSITIVE;
    return control.name().startsWith("negative_") ? OWN_NEGATIVE : control.name();
  }

  private static Cell cell(TaskVerdict verdict, String column) {
    List<Control> controls =
        verdict.controls().stream().filter(each -> column(each).equals(column)).toList();
    if (controls.isEmpty()) return Cell.missing();
    if (!controls.stream().allMatch(Control::ok)) return Cell.label("X", Tone.BAD);
    return controls.stream().allMatch(ControlsSection::skipped)
        ? Cell.label("s", Tone.ODD)
        : Cell.label("+", Tone.GOOD);
  }

  private static boolean skipped(Control control) {
    return "skipped".equals(control.status());
  }

  // ---------------------------------------------------------------- each control

  private static Section details(String id, String title, List<TaskVerdict> verdicts) {
    Blocks blocks = new Blocks();
    for (TaskVerdict verdict : verdicts) {
      if (verdict.problem() != null) blocks.note(verdict.problem());
    }
    List<Done> done =
        verdicts.stream()
            .flatMap(task -> task.controls().stream().map(control -> new Done(task, control)))
            .toList();
    blocks.table(
        id,
        "",
        List.of(
            Column.text("task", each -> each.task.path()),
            Column.<Done>text("control", each -> each.control.name()),
            Column.<Done>text(
                "must", each -> each.control.kind() == Kind.NEGATIVE ? "fail" : "pass"),
            new Column.Of<>(Column.text("ended as"), each -> ended(each.control)),
            Column.<Done>text("detail", each -> each.control.detail()).wrapped()),
        done);
    return blocks.section(id, title);
  }

  private static Cell ended(Control control) {
    if (control.status() == null) return Cell.missing();
    if (skipped(control)) return Cell.label(control.status(), Tone.ODD);
    return Cell.label(control.status(), control.ok() ? Tone.GOOD : Tone.BAD);
  }
}

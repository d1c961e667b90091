package dev.kbx.report;

import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.TaskVerdict.Control;
import dev.kbx.verdict.TaskVerdict.Kind;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * {@code controls.html}: the matrix task × control, and the result of each control. No script.
 *
 * @param verdicts in the order to show
 * @param suite name of the suite
 */
record ControlPage(List<TaskVerdict> verdicts, String suite, Verdict.Device device) {

  void write(Writer writer) throws IOException {
    Template.fill("controls.html", writer, this::fill);
  }

  private void fill(Writer writer, String hole) throws IOException {
    switch (hole) {
      case "suite" -> writer.write(Html.escape(suite));
      case "headline" -> writer.write(headline());
      case "facts" -> facts(writer);
      case "problems" -> problems(writer);
      case "columns" -> columns(writer);
      case "rows" -> rows(writer);
      case "details" -> details(writer);
      default ->
          throw new IllegalStateException("the template has an unknown placeholder: " + hole);
    }
  }

  private String headline() {
    long sound = verdicts.stream().filter(TaskVerdict::ok).count();
    return "%d of %d tasks are sound%s"
        .formatted(sound, verdicts.size(), ControlColumns.precision(verdicts));
  }

  private void facts(Writer writer) throws IOException {
    fact(writer, "Device", device.name() + (device.arch() == null ? "" : " · " + device.arch()));
    fact(writer, "Controls", String.valueOf(count(Kind.POSITIVE, Kind.NEGATIVE, Kind.KERNEL)));
    fact(writer, "of them honest", String.valueOf(count(Kind.POSITIVE, Kind.KERNEL)));
    fact(writer, "of them Triton kernels", String.valueOf(count(Kind.KERNEL)));
    double seconds =
        verdicts.stream()
            .map(TaskVerdict::seconds)
            .filter(Objects::nonNull)
            .mapToDouble(s -> s)
            .sum();
    fact(writer, "Sum of times", String.format(Locale.ROOT, "%.0f s", seconds));
  }

  private long count(Kind... kinds) {
    return verdicts.stream()
        .flatMap(v -> v.controls().stream())
        .filter(c -> List.of(kinds).contains(c.kind()))
        .count();
  }

  private static void fact(Writer writer, String name, String value) throws IOException {
    writer.write("<div><dt>" + name + "</dt><dd>" + Html.escape(value) + "</dd></div>\n");
  }

  /** Tasks with a failed control, expanded. */
  private void problems(Writer writer) throws IOException {
    for (TaskVerdict verdict : verdicts) if (!verdict.ok()) task(writer, verdict, true);
  }

  private void columns(Writer writer) throws IOException {
    for (String column : ControlColumns.of(verdicts)) {
      writer.write("<th scope=\"col\"><span>" + Html.escape(column) + "</span></th>");
    }
  }

  private void rows(Writer writer) throws IOException {
    List<String> columns = ControlColumns.of(verdicts);
    String category = "";
    for (TaskVerdict verdict : verdicts) {
      if (!verdict.category().equals(category)) {
        category = verdict.category();
        writer.write(
            "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%d\">%s</th></tr>\n"
                .formatted(columns.size() + 1, Html.escape(category)));
      }
      writer.write(
          "<tr><th scope=\"row\"><a href=\"#%1$s\">%1$s</a></th>"
              .formatted(Html.escape(verdict.name())));
      for (String column : columns) cell(writer, verdict, column);
      writer.write("</tr>\n");
    }
  }

  private static void cell(Writer writer, TaskVerdict verdict, String column) throws IOException {
    List<Control> controls = ControlColumns.in(verdict, column);
    ControlColumns.Cell cell = ControlColumns.cell(verdict, column);
    String title =
        controls.stream().map(c -> c.name() + ": " + c.status()).collect(Collectors.joining("\n"));
    String text =
        switch (cell) {
          case NONE -> "";
          case SKIPPED -> "–";
          case GOOD -> controls.size() > 1 ? String.valueOf(controls.size()) : "✓";
          case BAD -> "✗";
        };
    writer.write(
        "<td class=\"%s\" title=\"%s\">%s</td>"
            .formatted(cell.name().toLowerCase(Locale.ROOT), Html.escape(title), text));
  }

  private void details(Writer writer) throws IOException {
    for (TaskVerdict verdict : verdicts) if (verdict.ok()) task(writer, verdict, false);
  }

  private static void task(Writer writer, TaskVerdict verdict, boolean open) throws IOException {
    writer.write(
        "<details id=\"%s\"%s><summary>%s <span class=\"status %s\">%s</span></summary>\n"
            .formatted(
                Html.escape(verdict.name()),
                open ? " open" : "",
                Html.escape(verdict.path()),
                verdict.ok() ? "good" : "bad",
                verdict.ok() ? "sound" : "not sound"));
    if (verdict.problem() != null) {
      writer.write("<p class=\"note\">" + Html.escape(verdict.problem()) + "</p>\n");
    }
    writer.write("<table><tbody>\n");
    for (Control control : verdict.controls()) control(writer, control);
    writer.write("</tbody></table></details>\n");
  }

  private static void control(Writer writer, Control control) throws IOException {
    String colour = ControlColumns.skipped(control) ? "odd" : control.ok() ? "good" : "bad";
    writer.write(
        ("<tr><th scope=\"row\">%s</th><td>%s</td>"
                + "<td><span class=\"status %s\">%s</span></td><td>%s</td></tr>\n")
            .formatted(
                Html.escape(control.name()),
                control.kind() == Kind.NEGATIVE ? "must fail" : "must pass",
                colour,
                Html.escape(control.status()),
                Html.escape(control.detail())));
  }
}

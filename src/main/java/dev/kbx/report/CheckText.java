package dev.kbx.report;

import dev.kbx.check.Finding;
import dev.kbx.check.InvalidSource;
import dev.kbx.check.Severity;
import dev.kbx.document.Counted;
import dev.kbx.document.Text;
import dev.kbx.syntax.Place;
import java.util.ArrayList;
import java.util.List;

/**
 * Findings in the style of compilers: place, severity, rule, message, source line, advice.
 *
 * @param width columns for a line of source; longer lines are cut around the place
 * @param colour whether to write ANSI colours
 */
public record CheckText(int width, boolean colour) {
  private static final int NUMBER = 5;
  private static final String RED = "31";
  private static final String YELLOW = "33";
  private static final String CYAN = "36";
  private static final String DIM = "2";

  /** The findings and a last line with totals, ending in a line break. */
  public String render(Checks checks) {
    List<String> lines = new ArrayList<>();
    for (Checked source : checks.sources()) {
      source.report().broken().ifPresent(broken -> add(lines, source, broken));
      for (Finding finding : source.findings(checks.least())) add(lines, source, finding);
    }
    lines.add(summary(checks));
    return String.join("\n", lines) + "\n";
  }

  private void add(List<String> lines, Checked source, InvalidSource broken) {
    lines.add(
        head(source, broken.place(), RED, "broken", broken.status().label(), broken.message()));
    excerpt(lines, broken.place(), RED);
  }

  private void add(List<String> lines, Checked source, Finding finding) {
    String ansi = ansi(finding.severity());
    lines.add(
        head(
            source,
            finding.place(),
            ansi,
            finding.severity().label(),
            finding.rule(),
            finding.message()));
    excerpt(lines, finding.place(), ansi);
    lines.add(gutter("= ") + "instead: " + Text.clean(finding.advice()));
  }

  private String head(
      Checked source, Place place, String ansi, String severity, String rule, String message) {
    return "%s:%d:%d: %s: %s: %s"
        .formatted(
            Text.clean(source.name()),
            place.line(),
            place.column(),
            paint(ansi, severity),
            rule,
            Text.clean(message));
  }

  private void excerpt(List<String> lines, Place place, String ansi) {
    if (place.text().isBlank()) return;
    SourceLine line = SourceLine.of(place, width - NUMBER - 3);
    lines.add(paint(DIM, Text.right(Integer.toString(place.line()), NUMBER) + " | ") + line.text());
    lines.add(gutter("| ") + paint(ansi, line.marks()));
  }

  private String gutter(String mark) {
    return paint(DIM, " ".repeat(NUMBER + 1) + mark);
  }

  private static String ansi(Severity severity) {
    return switch (severity) {
      case REJECT -> RED;
      case FLAG -> YELLOW;
      case NOTE -> CYAN;
    };
  }

  private static String summary(Checks checks) {
    List<String> parts = new ArrayList<>();
    if (checks.broken() > 0) parts.add(checks.broken() + " broken");
    long rejections = checks.count(Severity.REJECT);
    if (rejections > 0) parts.add(counted(rejections, "rejection"));
    if (checks.count(Severity.FLAG) > 0) parts.add(counted(checks.count(Severity.FLAG), "flag"));
    if (checks.count(Severity.NOTE) > 0) parts.add(counted(checks.count(Severity.NOTE), "note"));
    String found = parts.isEmpty() ? "nothing found" : String.join(", ", parts);
    return found + " in " + counted(checks.sources().size(), "source");
  }

  private static String counted(long number, String what) {
    return number + " " + Counted.noun(number, what);
  }

  private String paint(String ansi, String text) {
    return colour ? "\u001b[" + ansi + "m" + text + "\u001b[0m" : text;
  }
}

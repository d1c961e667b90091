package dev.kbx.report;

import dev.kbx.analysis.TaskShare;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.ObjectWriter;

/** Parts of reports for pages of other packages, as markup for the style {@code report.css}. */
public final class Components {
  private static final ObjectWriter JSON = Json.mapper().writer().with(new ScriptEscapes());

  private Components() {}

  /** A status in its colour. */
  public static String badge(Status status) {
    return Failures.badge(status);
  }

  /** A share as a bar with its interval. */
  public static String bar(Rate rate) {
    return Bar.of(rate);
  }

  /** A bar in the colour of a status, from 0 to 1. */
  public static String statusBar(Status status, double share) {
    return """
    <svg class="bar %s" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">\
    <rect class="fill" width="%s" height="8"/></svg>\
    """
        .formatted(HtmlReport.tone(status), Bar.decimal(100 * share));
  }

  /** A share in whole percent. */
  public static String percent(double share) {
    return Bar.percent(share);
  }

  /** The 95 % interval of a rate in whole percent. */
  public static String interval(Rate rate) {
    return Bar.interval(rate.low(), rate.high());
  }

  /** Writes a table's cell with a share: count, bar, percent, interval; a dash where null. */
  public static void shareCell(Writer writer, String name, @Nullable TaskShare share)
      throws IOException {
    RateCell.write(writer, name, share);
  }

  /** The style of a heat map's cell for a share from 0 to 1. */
  public static String shade(double share) {
    return HeatMap.shade(share);
  }

  /** Writes a section on the calls beyond the published grade, or nothing where none was made. */
  public static void properties(Writer writer, List<VerdictRow> rows) throws IOException {
    PropertyTables.write(writer, rows);
  }

  /** A verdict and its source as JSON that is safe inside a script element. */
  public static String details(Verdict verdict, @Nullable String source) {
    return JSON.writeValueAsString(new Details(verdict, source));
  }

  private record Details(Verdict verdict, @Nullable String source) {}

  /** The style of all reports. */
  public static String style() {
    return Html.resource("report.css");
  }

  /** The script that shows {@link #details} of the element {@code data}, in {@code candidate}. */
  public static String detailsScript() {
    return Stream.of("elements.js", "details.js", "timings.js", "rounds.js", "candidate.js")
        .map(Html::resource)
        .collect(Collectors.joining("\n", "(() => {\n\"use strict\";\n", "})();\n"));
  }
}

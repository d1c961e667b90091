package dev.kbx.report;

import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.stream.Collectors;

/** The scripts of a run's page. */
final class PageScript {
  private static final List<String> FILES =
      List.of(
          "elements.js",
          "page.js",
          "table.js",
          "details.js",
          "timings.js",
          "rounds.js",
          "charts.js",
          "start.js");

  private PageScript() {}

  /** Our own, as one script. */
  static String text() {
    return FILES.stream()
        .map(file -> Html.resource(file))
        .collect(Collectors.joining("\n", "(() => {\n\"use strict\";\n", "})();\n"));
  }

  /** The chart library's hash for the content security policy. */
  static String chartsHash() {
    return Template.hash(library());
  }

  /** The chart library, packed: our script unpacks and runs it when a chart comes into view. */
  static void writeCharts(Writer writer) throws IOException {
    writer.write(
        "<script type=\"text/plain\" id=\"charts\">" + Packed.of(library()) + "</script>\n");
  }

  /** Apache ECharts; its licence is beside it. */
  private static String library() {
    return Html.resource("echarts.simple.min.js");
  }
}

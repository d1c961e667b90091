package dev.kbx.report;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.ObjectWriter;

/** What pages of other packages have of reports: the style, and the details of a candidate. */
public final class Components {
  private static final ObjectWriter JSON = Json.mapper().writer().with(new Html.ScriptEscapes());

  private Components() {}

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

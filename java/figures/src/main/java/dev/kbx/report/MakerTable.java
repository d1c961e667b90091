package dev.kbx.report;

import dev.kbx.analysis.Maker;
import dev.kbx.analysis.MethodRates;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.Outcome;
import dev.kbx.analysis.SetSpeedup;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Counted;
import java.io.IOException;
import java.io.Writer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Methods and models beside each other as markup: how good is each.
 *
 * @param rows of each method and model
 */
record MakerTable(Methods methods, Tally tally, Map<Maker, List<VerdictRow>> rows) {
  void write(Writer writer) throws IOException {
    Map<Maker, SetSpeedup> speedups = speedups();
    writer.write(
        "<section id=\"makers\">\n"
            + "<h2>Methods and models</h2>\n"
            + "<table class=\"methods\">\n"
            + "<thead><tr>");
    head(writer, "Method");
    head(writer, "Candidates");
    for (MethodRates.OfOutcome outcome : outcomes()) head(writer, title(outcome.outcome()));
    if (hasPassAtK()) head(writer, "pass@k");
    if (!speedups.isEmpty()) head(writer, "Speedup");
    writer.write("</tr></thead>\n<tbody>\n");
    Whisker axis = Whisker.over(List.copyOf(speedups.values()));
    for (MethodRates each : methods.methods()) row(writer, each, speedups, axis);
    writer.write("</tbody>\n</table>\n<p class=\"legend\">" + legend(!speedups.isEmpty()));
    writer.write("</p>\n</section>\n");
  }

  private List<MethodRates.OfOutcome> outcomes() {
    return methods.methods().getFirst().outcomes().stream().filter(this::isShown).toList();
  }

  /** The general rate is shown where it is another than that of correct ones. */
  private boolean isShown(MethodRates.OfOutcome outcome) {
    return outcome.outcome() != Outcome.GENERAL || tally.general();
  }

  private boolean hasSamples() {
    return methods.entered().hasSamples();
  }

  private boolean hasPassAtK() {
    return methods.methods().stream()
        .flatMap(each -> each.samples().stream())
        .anyMatch(sampled -> sampled.k() > 1);
  }

  private Map<Maker, SetSpeedup> speedups() {
    Map<Maker, SetSpeedup> speedups = new LinkedHashMap<>();
    rows.forEach((maker, own) -> {
      SetSpeedup speedup = SetSpeedup.of(tally.counted(own));
      if (speedup != null) speedups.put(maker, speedup);
    });
    return speedups;
  }

  private void row(Writer writer, MethodRates each, Map<Maker, SetSpeedup> speedups, Whisker axis)
      throws IOException {
    Maker maker = each.maker();
    String link = Anchors.filter(maker);
    writer.write("<tr><th scope=\"row\"><a href=\"%s\">".formatted(link));
    writer.write(Html.escape(Objects.requireNonNullElse(maker.method(), "no method stated")));
    writer.write("</a>");
    if (maker.model() != null) writer.write("<small>" + Html.escape(maker.model()) + "</small>");
    writer.write(
        "</th><td data-name=\"candidates\">%s of %s</td>"
            .formatted(
                Counted.of(each.candidates(), "candidate"), Counted.of(each.tasks(), "task")));
    for (MethodRates.OfOutcome outcome : each.outcomes()) {
      if (!isShown(outcome)) continue;
      RateCell.write(writer, outcome.outcome().label(), outcome.all(), hasSamples());
    }
    if (hasPassAtK()) passAtK(writer, each);
    if (!speedups.isEmpty()) speedup(writer, speedups.get(maker), axis);
    writer.write("</tr>\n");
  }

  private static void passAtK(Writer writer, MethodRates each) throws IOException {
    MethodRates.Sampled sampled = each.samples().isEmpty() ? null : each.samples().getFirst();
    if (sampled == null || sampled.value() == null) {
      RateCell.none(writer, "pass@k", "–");
      return;
    }
    writer.write(
        "<td data-name=\"pass@%d\"><span>%s%s</span></td>"
            .formatted(
                sampled.k(),
                Bar.percent(sampled.value()),
                sampled.low() == null || sampled.high() == null
                    ? ""
                    : " <small>" + Bar.interval(sampled.low(), sampled.high()) + "</small>"));
  }

  private static void speedup(Writer writer, @Nullable SetSpeedup speedup, Whisker axis)
      throws IOException {
    if (speedup == null) {
      RateCell.none(writer, "speedup", "–");
      return;
    }
    writer.write(
        "<td data-name=\"speedup\"><span class=\"rate\"><b>%s</b>%s<span></span>"
            .formatted(RateText.ratio(speedup.geometricMean()), axis.of(speedup)));
    String interval =
        speedup.low() == null || speedup.high() == null
            ? ""
            : "%.2f–%.2f×, ".formatted(speedup.low(), speedup.high());
    writer.write(
        "<small>%sover %s</small></span></td>"
            .formatted(interval, Counted.of(speedup.tasks(), "task")));
  }

  private String legend(boolean timed) {
    String rates =
        hasSamples()
            ? "The mean over the tasks asked for of the share of a task’s samples that pass"
            : "Tasks asked for with a candidate that passes";
    return rates
        + "; a task without a candidate counts as 0. Of several rounds the last one counts."
        + " Intervals are 95 %."
        + (timed
            ? " Speedup: geometric mean over tasks of correct candidates, with its interval on one"
                + " logarithmic axis; the line is at 1×."
            : "");
  }

  private String title(Outcome outcome) {
    return switch (outcome) {
      case CALLED -> "Called";
      case CORRECT -> tally.general() ? "Correct, published" : "Correct";
      case GENERAL -> "Correct, general";
      case FASTER -> "Faster than 1×";
    };
  }

  private static void head(Writer writer, String title) throws IOException {
    writer.write("<th scope=\"col\">" + title + "</th>");
  }

  /**
   * Speedups as markup: points with their intervals on one logarithmic axis, with a line at 1×.
   *
   * @param low lower end of the axis
   */
  private record Whisker(double low, double high) {
    private static final double MARGIN = 1.05;

    /** An axis for all of them and 1×. */
    static Whisker over(List<SetSpeedup> all) {
      double low = 1;
      double high = 1;
      for (SetSpeedup each : all) {
        low = Math.min(low, each.low() == null ? each.geometricMean() : each.low());
        high = Math.max(high, each.high() == null ? each.geometricMean() : each.high());
      }
      return new Whisker(low / MARGIN, high * MARGIN);
    }

    String of(SetSpeedup speedup) {
      String interval =
          speedup.low() == null || speedup.high() == null
              ? ""
              : "<path class=\"interval\" d=\"M%s 5H%s\"/>"
                  .formatted(x(speedup.low()), x(speedup.high()));
      return """
      <svg class="whisker" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">\
      <path class="one" d="M%1$s 0V10"/>%2$s<path class="point" d="M%3$s 2V8"/></svg>\
      """
          .formatted(x(1), interval, x(speedup.geometricMean()));
    }

    private String x(double value) {
      return Bar.decimal(100 * Math.log(value / low) / Math.log(high / low));
    }
  }
}

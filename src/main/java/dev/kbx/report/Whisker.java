package dev.kbx.report;

import dev.kbx.analysis.SetSpeedup;
import java.util.List;

/**
 * Speedups as markup: points with their intervals on one logarithmic axis, with a line at 1×.
 *
 * @param low lower end of the axis
 */
record Whisker(double low, double high) {
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

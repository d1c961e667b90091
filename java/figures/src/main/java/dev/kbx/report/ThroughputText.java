package dev.kbx.report;

import dev.kbx.analysis.Throughput;
import dev.kbx.document.Counted;
import dev.kbx.verdict.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** {@link Throughput} for a terminal. */
public final class ThroughputText {
  private static final List<String> MEASURING =
      List.of("candidate", "warm up", "reference", "baseline");

  private ThroughputText() {}

  /** The text, ending in a line break. */
  public static String render(Throughput found) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%d %s in %.1f s on %d x %s, %d at a time: %.0f a device-hour"
            .formatted(
                found.candidates(),
                Counted.noun(found.candidates(), "candidate"),
                found.seconds(),
                found.devices(),
                found.device().name(),
                found.slots(),
                found.perDeviceHour()));
    if (found.missing() != null) {
      lines.add("cut off: %,d without a verdict".formatted(found.missing()));
    }
    if (found.aloneSeconds() != null) {
      lines.add(
          "each alone: median %.2f s from one verdict to the next".formatted(found.aloneSeconds()));
    }
    lines.add(
        found.statuses().entrySet().stream()
            .map(e -> e.getKey() + " " + e.getValue())
            .collect(Collectors.joining(", ")));
    lines.add("");
    lines.add("stage      candidates    median      most       all");
    for (Stage stage : Stage.values()) {
      Throughput.Stage spent = found.stages().get(stage.label());
      if (spent != null) lines.add(row(stage.label(), spent));
    }
    found.timing().forEach((number, parts) -> alone(number, parts, found.seconds(), lines));
    return String.join("\n", lines) + "\n";
  }

  private static String row(String stage, Throughput.Stage s) {
    return "%-10s %10d %7.2f s %7.2f s %7.1f s"
        .formatted(stage, s.candidates(), s.median(), s.most(), s.all());
  }

  /** Seconds in which calls of the candidate or the reference were timed. */
  private static double measuring(Map<String, Double> parts) {
    return MEASURING.stream().mapToDouble(part -> parts.getOrDefault(part, 0.0)).sum();
  }

  /** Causes of exclusive GPU time, the longest first. */
  private static void alone(
      int number, Map<String, Double> parts, double seconds, List<String> lines) {
    double sum = parts.values().stream().mapToDouble(Double::doubleValue).sum();
    lines.add("");
    lines.add(
        "GPU %d: one candidate alone for %.1f s, %.0f %% of the time; %.0f %% of that is measuring"
            .formatted(number, sum, 100 * sum / seconds, 100 * measuring(parts) / sum));
    parts.entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .forEach(part -> lines.add("  %-20s %7.2f s".formatted(part.getKey(), part.getValue())));
  }
}

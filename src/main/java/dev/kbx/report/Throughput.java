package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.stats.Median;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How many candidates a machine judged in what time, and where the time went.
 *
 * @param device what it judged on
 * @param devices how many of them
 * @param slots candidates at the same time, on all devices together
 * @param candidates verdicts that fell
 * @param seconds from the first candidate to the last verdict, the start of workers included
 * @param perDeviceHour candidates an hour and device
 * @param aloneSeconds median seconds from one verdict to the next, where there is one slot; the
 *     first, which starts the workers, left out
 * @param statuses verdicts by status
 * @param stages seconds by stage, over all candidates
 * @param timing seconds by what whoever was alone on a device waited for, by device
 * @param missing candidates without a verdict when it was cut off; null where all have one
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Throughput(
    Verdict.Device device,
    Map<String, String> versions,
    int devices,
    int slots,
    int candidates,
    double seconds,
    double perDeviceHour,
    @Nullable Double aloneSeconds,
    Map<String, Integer> statuses,
    Map<String, Stage> stages,
    Map<Integer, Map<String, Double>> timing,
    @Nullable Integer missing) {

  /** Seconds that candidates spent in one stage. */
  public record Stage(int candidates, double median, double most, double all) {}

  /**
   * Adds up a run.
   *
   * @param fell seconds after the start at which each verdict fell, in the order of {@code
   *     verdicts}
   */
  public static Throughput of(
      Verdict.Device device,
      Map<String, String> versions,
      int devices,
      int slots,
      List<Verdict> verdicts,
      double[] fell,
      Map<Integer, Map<String, Double>> timing) {
    double seconds = fell[fell.length - 1];
    Map<String, Integer> statuses = new TreeMap<>();
    Map<String, List<Double>> spent = new TreeMap<>();
    for (Verdict verdict : verdicts) {
      statuses.merge(verdict.status().label(), 1, Integer::sum);
      verdict
          .seconds()
          .forEach((stage, s) -> spent.computeIfAbsent(stage, _ -> new ArrayList<>()).add(s));
    }
    Map<String, Stage> stages = new TreeMap<>();
    spent.forEach((stage, all) -> stages.put(stage, stage(all)));
    return new Throughput(
        device,
        versions,
        devices,
        slots,
        verdicts.size(),
        seconds,
        3600 * verdicts.size() / seconds / devices,
        slots == 1 && fell.length > 1 ? Median.of(gaps(fell)) : null,
        statuses,
        stages,
        timing,
        null);
  }

  /** The same as all there is of more. */
  public Throughput cutOff(int without) {
    return new Throughput(
        device,
        versions,
        devices,
        slots,
        candidates,
        seconds,
        perDeviceHour,
        aloneSeconds,
        statuses,
        stages,
        timing,
        without);
  }

  private static double[] gaps(double[] fell) {
    double[] gaps = new double[fell.length - 1];
    Arrays.setAll(gaps, i -> fell[i + 1] - fell[i]);
    return gaps;
  }

  private static Stage stage(List<Double> seconds) {
    double[] all = seconds.stream().mapToDouble(Double::doubleValue).toArray();
    return new Stage(
        all.length,
        Median.of(all),
        Arrays.stream(all).max().orElseThrow(),
        Arrays.stream(all).sum());
  }

  /** The figures as text, ending in a line break. */
  public String render() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%d %s in %.1f s on %d x %s, %d at a time: %.0f a device-hour"
            .formatted(
                candidates,
                Counted.noun(candidates, "candidate"),
                seconds,
                devices,
                device.name(),
                slots,
                perDeviceHour));
    if (missing != null) {
      lines.add("cut off: %,d without a verdict".formatted(missing));
    }
    if (aloneSeconds != null) {
      lines.add("each alone: median %.2f s from one verdict to the next".formatted(aloneSeconds));
    }
    lines.add(
        statuses.entrySet().stream()
            .map(e -> e.getKey() + " " + e.getValue())
            .collect(Collectors.joining(", ")));
    lines.add("");
    lines.add("stage      candidates    median      most       all");
    for (var stage : dev.kbx.verdict.Stage.values()) {
      Stage s = stages.get(stage.label());
      if (s != null) lines.add(row(stage.label(), s));
    }
    timing.forEach((number, parts) -> alone(number, parts, lines));
    return String.join("\n", lines) + "\n";
  }

  private static String row(String stage, Stage s) {
    return "%-10s %10d %7.2f s %7.2f s %7.1f s"
        .formatted(stage, s.candidates(), s.median(), s.most(), s.all());
  }

  /** What the one who had a device to himself waited for, the longest first. */
  private void alone(int number, Map<String, Double> parts, List<String> lines) {
    double sum = parts.values().stream().mapToDouble(Double::doubleValue).sum();
    lines.add("");
    lines.add(
        "GPU %d: one candidate alone for %.1f s, %.0f %% of the time"
            .formatted(number, sum, 100 * sum / seconds));
    parts.entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .forEach(part -> lines.add("  %-10s %7.2f s".formatted(part.getKey(), part.getValue())));
  }
}

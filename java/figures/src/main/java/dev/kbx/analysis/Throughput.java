package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.stats.Median;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Throughput of a run, and where the time went.
 *
 * @param device device that judged
 * @param devices number of devices
 * @param slots candidates judged at the same time, over all devices
 * @param statuses verdicts by status
 * @param stages seconds by stage, over all candidates
 * @param timing seconds of exclusive use of a GPU, by GPU and cause
 * @param missing candidates without a verdict in an interrupted run; null if all have one
 */
@JsonPropertyOrder({"device", "versions", "devices", "slots", "pace"})
public record Throughput(
    Verdict.Device device,
    Map<String, String> versions,
    int devices,
    int slots,
    @JsonUnwrapped Pace pace,
    Map<String, Integer> statuses,
    Map<String, Stage> stages,
    Map<Integer, Map<String, Double>> timing,
    @Nullable Integer missing) {

  /**
   * How fast.
   *
   * @param candidates number of judged candidates
   * @param seconds wall time from the first candidate to the last verdict, including the start of
   *     workers
   * @param perDeviceHour candidates per device-hour
   * @param aloneSeconds with one slot, the median seconds between verdicts, without the first,
   *     which includes the start of workers
   */
  public record Pace(
      int candidates, double seconds, double perDeviceHour, @Nullable Double aloneSeconds) {}

  /** Seconds that candidates spent in one stage. */
  public record Stage(int candidates, double median, double most, double all) {}

  /**
   * One verdict.
   *
   * @param stages seconds that the candidate spent in each stage, by label
   * @param seconds from the start of the run until the verdict
   */
  public record Judged(Status status, Map<String, Double> stages, double seconds) {}

  /** Sums up a run; {@code judged} has at least one verdict, in order of completion. */
  public static Throughput of(
      Verdict.Device device,
      Map<String, String> versions,
      int devices,
      int slots,
      List<Judged> judged,
      Map<Integer, Map<String, Double>> timing) {
    double[] fell = judged.stream().mapToDouble(Judged::seconds).toArray();
    double seconds = fell[fell.length - 1];
    Map<String, Integer> statuses = new TreeMap<>();
    Map<String, List<Double>> spent = new TreeMap<>();
    for (Judged one : judged) {
      statuses.merge(one.status().label(), 1, Integer::sum);
      one.stages()
          .forEach((stage, s) -> spent.computeIfAbsent(stage, _ -> new ArrayList<>()).add(s));
    }
    Map<String, Stage> stages = new TreeMap<>();
    spent.forEach((stage, all) -> stages.put(stage, stage(all)));
    return new Throughput(
        device,
        versions,
        devices,
        slots,
        new Pace(
            judged.size(),
            seconds,
            3600 * judged.size() / seconds / devices,
            slots == 1 && fell.length > 1 ? Median.of(gaps(fell)) : null),
        statuses,
        stages,
        timing,
        null);
  }

  /** This report for an interrupted run, with the number of missing candidates. */
  public Throughput cutOff(int without) {
    return new Throughput(
        device, versions, devices, slots, pace, statuses, stages, timing, without);
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
}

package dev.kbx.timing;

import static dev.kbx.timing.Defaults.ALONE_BATCHES;
import static dev.kbx.timing.Defaults.ALONE_CALLS;
import static dev.kbx.timing.Defaults.LAUNCHING_MS;
import static dev.kbx.timing.Defaults.NOISE_MS;
import static dev.kbx.timing.Defaults.PRODUCTS_LIMIT;
import static dev.kbx.timing.Defaults.SLOWER;

import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Limits;
import dev.kbx.stats.Median;
import dev.kbx.verdict.Stage;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.OracleMessage.PrepareSize.Phase;
import dev.kbx.worker.PeakRates.Precision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The reference's times while no candidate's code runs, against those beside a candidate.
 *
 * <p>A candidate that keeps the device busy makes the baseline slow and itself look fast. A hot
 * device does so too, and a busy host where launching takes the time; both are nobody's fault.
 * Hence a slow baseline is timed once more after a while, and again when the candidate's process is
 * gone, and so are matrix products, which last so long that no host holds them up: only what is
 * slow in both with the process, and fast without it, is evidence. Without evidence nobody gains
 * either: see {@link LaunchedSize#settle}.
 */
public final class BaselineInterference {
  private final Oracle oracle;
  private final List<Times> quiet;
  private final boolean warm;
  private @Nullable Slow slow;

  /** A size whose baseline was slow beside the candidate, twice, and the device's rates then. */
  private record Slow(
      OracleMessage.Size size, HostRunAhead lead, double liveMs, Map<Precision, Double> rates) {}

  /**
   * Median milliseconds of the reference on one size while no candidate's code ran.
   *
   * @param ms where the host is ahead of the device
   * @param waitedMs where it is not; null where launching is little of {@code ms}
   */
  public record Times(double ms, @Nullable Double waitedMs) {
    double ms(HostRunAhead lead) {
      return lead == HostRunAhead.NONE && waitedMs != null ? waitedMs : ms;
    }
  }

  /**
   * @param quiet what {@link #measure} found for the task on this device
   * @param warm whether calls find their arguments in the L2 cache
   */
  public BaselineInterference(Oracle oracle, List<Times> quiet, boolean warm) {
    this.oracle = oracle;
    this.quiet = List.copyOf(quiet);
    this.warm = warm;
  }

  /** The reference on each size. No candidate's code may be loaded. */
  public static List<Times> measure(Oracle oracle, List<OracleMessage.Size> sizes, boolean warm)
      throws InterruptedException, Oracle.Refused {
    List<Times> times = new ArrayList<>();
    for (OracleMessage.Size size : sizes) {
      double ms = time(oracle, size, Phase.ALONE, 0, HostRunAhead.LAUNCHES, warm);
      boolean launchBound = ms < LAUNCHING_MS;
      times.add(new Times(ms, launchBound ? time(oracle, HostRunAhead.NONE, warm) : null));
    }
    return times;
  }

  /** Whether launching may be much of what the reference takes. */
  boolean launchBound(OracleMessage.Size size) {
    return quiet.get(size.index()).waitedMs() != null;
  }

  /** Median milliseconds of the reference on a size while no candidate's code ran. */
  double ms(OracleMessage.Size size, HostRunAhead lead) {
    return quiet.get(size.index()).ms(lead);
  }

  /** Takes note of what the reference took on a size beside the candidate. */
  void compare(OracleMessage.Size size, HostRunAhead lead, double liveMs)
      throws InterruptedException, Oracle.Refused {
    if (slow != null || !slower(size, lead, liveMs)) return;
    // Where launching is what takes time, chance makes a few rounds slow.
    if (!slower(size, lead, least(size, lead, Phase.SLOW))) return;
    Map<Precision, Double> rates = products();
    double least = least(size, lead, Phase.STILL_SLOW);
    if (slower(size, lead, least)) slow = new Slow(size, lead, least, rates);
  }

  /** The least median of several batches; of fewer, where one is as quick as it was. */
  private double least(OracleMessage.Size size, HostRunAhead lead, Phase phase)
      throws InterruptedException, Oracle.Refused {
    double least = Double.MAX_VALUE;
    for (int i = 0; i < ALONE_BATCHES && slower(size, lead, least); i++) {
      least = Math.min(least, time(oracle, size, phase, i, lead, warm));
    }
    return least;
  }

  /**
   * Once the candidate's process is gone: evidence that it held the baseline back, if there is.
   * Where there is no room for the reference, as while that process is being taken down, there is
   * none.
   */
  public Optional<Outcome> verdict() throws InterruptedException {
    if (slow == null) return Optional.empty();
    OracleMessage.Size size = slow.size();
    HostRunAhead lead = slow.lead();
    double after;
    try {
      after = Collections.max(after(size, lead));
    } catch (Oracle.Refused e) {
      return Optional.empty();
    }
    if (slower(size, lead, after) || !slower(slow.liveMs(), after)) return Optional.empty();
    if (!busy(slow.rates(), products())) return Optional.empty();
    return Optional.of(
        Outcome.cheating(
            Stage.PERF,
            "baseline: slower while the candidate's process lives: %s takes %.4f ms beside it, %.4f ms before and %.4f ms after"
                .formatted(size.shape(), slow.liveMs(), ms(size, lead), after)));
  }

  /**
   * What the reference takes once the candidate's process is gone; 0 where there is no room for it.
   */
  double afterwards(OracleMessage.Size size, HostRunAhead lead) throws InterruptedException {
    try {
      return Median.of(after(size, lead));
    } catch (Oracle.Refused e) {
      return 0;
    }
  }

  /** The medians of several batches. */
  private List<Double> after(OracleMessage.Size size, HostRunAhead lead)
      throws InterruptedException, Oracle.Refused {
    List<Double> medians = new ArrayList<>();
    for (int i = 0; i < ALONE_BATCHES; i++)
      medians.add(time(oracle, size, Phase.ALONE_AGAIN, i, lead, warm));
    return medians;
  }

  /** Whether {@code ms} milliseconds are more than the reference took on a size by itself. */
  boolean slower(OracleMessage.Size size, HostRunAhead lead, double ms) {
    return slower(ms, ms(size, lead));
  }

  /**
   * Whether a baseline of {@code ms} milliseconds was held back, where it takes {@code quietMs}.
   */
  static boolean slower(double ms, double quietMs) {
    return ms > SLOWER * quietMs + NOISE_MS;
  }

  /**
   * The rates of a few long matrix products; empty where the device has no room for them, or slows
   * itself down.
   */
  private Map<Precision, Double> products() throws InterruptedException {
    try {
      OracleMessage.Peaks found =
          oracle.ask(
              OracleMessage.Peaks.class,
              id -> new OracleMessage.MeasurePeaks(id, true),
              PRODUCTS_LIMIT);
      boolean slowed = found.state() != null && found.state().slowed();
      return slowed ? Map.of() : found.rates().tflops();
    } catch (Oracle.Refused e) {
      return Map.of();
    }
  }

  /**
   * Whether products took longer at {@code live} rates than at {@code quiet} ones, as much as a
   * baseline that is slow: processes take turns on a device, and it is shared by all they do.
   */
  private static boolean busy(Map<Precision, Double> live, Map<Precision, Double> quiet) {
    return live.entrySet().stream()
        .anyMatch(rate -> quiet.getOrDefault(rate.getKey(), 0.0) > SLOWER * rate.getValue());
  }

  private static double time(
      Oracle oracle,
      OracleMessage.Size size,
      Phase phase,
      int round,
      HostRunAhead lead,
      boolean warm)
      throws InterruptedException, Oracle.Refused {
    oracle.ask(
        OracleMessage.PreparedSize.class,
        id -> new OracleMessage.PrepareSize(id, size.index(), ALONE_CALLS, phase, round),
        Limits.ORACLE);
    return time(oracle, lead, warm);
  }

  /** On the sets last prepared. */
  private static double time(Oracle oracle, HostRunAhead lead, boolean warm)
      throws InterruptedException, Oracle.Refused {
    return Median.of(
        oracle
            .ask(
                OracleMessage.BaselineMeasured.class,
                id -> new OracleMessage.Baseline(id, lead.flushes(), warm, false),
                Limits.ORACLE)
            .deviceMs());
  }
}

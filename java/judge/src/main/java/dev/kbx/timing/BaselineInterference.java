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
 * Detects candidates that slow down the reference, by timing it with and without their process.
 *
 * <p>A candidate that keeps the device busy makes the baseline slow and itself look fast. A hot
 * device, or a busy host that launches slowly, has the same effect without anybody's fault. So a
 * slow baseline is timed again after a while, and once more after the candidate's process is gone.
 * So are long matrix products, which a busy host cannot delay. Only if both are slow with the
 * process and fast without it is that evidence. Without evidence nobody gains either: see {@link
 * LaunchedSize#settle}.
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
   * @param ms with run-ahead of the host
   * @param waitedMs without run-ahead; null if launching is a small part of {@code ms}
   */
  public record Times(double ms, @Nullable Double waitedMs) {
    double ms(HostRunAhead lead) {
      return lead == HostRunAhead.NONE && waitedMs != null ? waitedMs : ms;
    }
  }

  /**
   * @param quiet result of {@link #measure} for the task on this device
   * @param warm whether the L2 cache holds the calls' arguments
   */
  public BaselineInterference(Oracle oracle, List<Times> quiet, boolean warm) {
    this.oracle = oracle;
    this.quiet = List.copyOf(quiet);
    this.warm = warm;
  }

  /** Times the reference on each size. No candidate's code may be loaded. */
  public static List<Times> measure(Oracle oracle, List<OracleMessage.Size> sizes, boolean warm)
      throws InterruptedException, Oracle.Refused {
    List<Times> times = new ArrayList<>();
    for (OracleMessage.Size size : sizes) {
      prepare(oracle, size, Phase.ALONE, 0);
      double ms = deviceMs(oracle, warm);
      boolean launchBound = ms < LAUNCHING_MS;
      times.add(new Times(ms, launchBound ? time(oracle, HostRunAhead.NONE, warm) : null));
    }
    return times;
  }

  /** Whether launching may be a large part of the reference's time. */
  boolean launchBound(OracleMessage.Size size) {
    return quiet.get(size.index()).waitedMs() != null;
  }

  /** Median milliseconds of the reference on a size while no candidate's code ran. */
  double ms(OracleMessage.Size size, HostRunAhead lead) {
    return quiet.get(size.index()).ms(lead);
  }

  /** Records the reference's time on a size beside the candidate. */
  void compare(OracleMessage.Size size, HostRunAhead lead, double liveMs)
      throws InterruptedException, Oracle.Refused {
    if (slow != null || !slower(size, lead, liveMs)) return;
    // On launch-bound sizes, a few rounds are slow by chance.
    if (!slower(size, lead, least(size, lead, Phase.SLOW))) return;
    Map<Precision, Double> rates = products();
    double least = least(size, lead, Phase.STILL_SLOW);
    if (slower(size, lead, least)) slow = new Slow(size, lead, least, rates);
  }

  /** The smallest median of several batches; stops early at one that is not slow. */
  private double least(OracleMessage.Size size, HostRunAhead lead, Phase phase)
      throws InterruptedException, Oracle.Refused {
    double least = Double.MAX_VALUE;
    for (int i = 0; i < ALONE_BATCHES && slower(size, lead, least); i++) {
      least = Math.min(least, time(oracle, size, phase, i, lead, warm));
    }
    return least;
  }

  /**
   * Call after the candidate's process is gone. Evidence that it slowed down the reference, if any.
   * None if the reference finds no memory, for example while that process is still exiting.
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

  /** The reference's time after the candidate's process is gone; 0 if there is no memory for it. */
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

  /** Whether {@code ms} milliseconds are slow, compared with the reference's time alone. */
  boolean slower(OracleMessage.Size size, HostRunAhead lead, double ms) {
    return slower(ms, ms(size, lead));
  }

  /**
   * Whether a baseline of {@code ms} milliseconds was slowed down, if it takes {@code quietMs}
   * alone.
   */
  static boolean slower(double ms, double quietMs) {
    return ms > SLOWER * quietMs + NOISE_MS;
  }

  /**
   * Rates of a few long matrix products; empty if the device has no memory for them, or is
   * throttled.
   */
  private Map<Precision, Double> products() throws InterruptedException {
    try {
      OracleMessage.Peaks found =
          oracle.ask(
              OracleMessage.Peaks.class,
              id -> new OracleMessage.MeasurePeaks(id, true),
              PRODUCTS_LIMIT);
      return found.state().slowed() ? Map.of() : found.rates().tflops();
    } catch (Oracle.Refused e) {
      return Map.of();
    }
  }

  /**
   * Whether products were slower at {@code live} rates than at {@code quiet} ones, by as much as a
   * slow baseline: processes take turns on a device, which affects all their work alike.
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
    prepare(oracle, size, phase, round);
    return time(oracle, lead, warm);
  }

  private static void prepare(Oracle oracle, OracleMessage.Size size, Phase phase, int round)
      throws InterruptedException, Oracle.Refused {
    oracle.ask(
        OracleMessage.PreparedSize.class,
        id -> new OracleMessage.PrepareSize(id, size.index(), ALONE_CALLS, phase, round),
        Limits.ORACLE);
  }

  /** With as much run-ahead as it takes: see {@link Series#add}. */
  private static double deviceMs(Oracle oracle, boolean warm)
      throws InterruptedException, Oracle.Refused {
    Batch launches = batch(oracle, HostRunAhead.LAUNCHES, warm);
    if (!launches.hostBound()) return Median.of(launches.deviceMs());
    return time(oracle, HostRunAhead.LONG, warm);
  }

  private static double time(Oracle oracle, HostRunAhead lead, boolean warm)
      throws InterruptedException, Oracle.Refused {
    return Median.of(batch(oracle, lead, warm).deviceMs());
  }

  /** Times the reference on the sets last prepared. */
  private static Batch batch(Oracle oracle, HostRunAhead lead, boolean warm)
      throws InterruptedException, Oracle.Refused {
    OracleMessage.BaselineMeasured measured =
        oracle.ask(
            OracleMessage.BaselineMeasured.class,
            id -> new OracleMessage.Baseline(id, lead.flushes(), warm, false),
            Limits.ORACLE);
    return Batch.of(measured, 0);
  }
}

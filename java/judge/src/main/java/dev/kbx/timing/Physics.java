package dev.kbx.timing;

import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Verdict.Launched;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.PeakRates;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The work of one size, as counted in the reference, against the device's peaks.
 *
 * @param size counts from the reference
 * @param peaks measured on this device
 * @param floor shortest possible time of a kernel
 */
record Physics(OracleMessage.PreparedSize size, PeakRates peaks, Floor floor) {

  static Physics of(OracleMessage.PreparedSize size, PeakRates peaks) {
    Floor floor = Floor.of(peaks, size.leastBytes(), size.leastFlops(), size.flushBytes());
    return new Physics(size, peaks, floor);
  }

  /**
   * Minimum milliseconds for copying a call's results, if only the candidate's are copied; 0
   * otherwise, and if unknown.
   */
  double copyMs() {
    return size.copied() ? 0 : copyingMs();
  }

  /** Minimum device milliseconds for the work beside a call, the same on both sides. */
  double besideMs(HostRunAhead lead) {
    double flushes = movedMs((double) Math.max(1, lead.flushes()) * size.flushBytes());
    return flushes + (size.copied() ? copyingMs() : 0);
  }

  private double copyingMs() {
    Long bytes = size.resultBytes();
    return bytes == null ? 0 : movedMs(2.0 * bytes);
  }

  private double movedMs(double bytes) {
    Double gbs = peaks.copyGbs(); // of bytes read and bytes written
    return gbs == null ? 0 : bytes / (gbs * 1e6);
  }

  /** Evidence if these rounds show an impossible time. */
  Optional<String> broken(PairedSamples rounds) {
    return floor.broken(rounds.candidateMs(), rounds.referenceMs());
  }

  /**
   * The size's figures for the verdict.
   *
   * @param python the rounds launched from Python, if {@code rounds} are of graphs
   */
  SizeTiming timing(
      OracleMessage.Size asked,
      PairedSamples rounds,
      @Nullable PairedSamples python,
      DeviceStates conditions,
      MemoryPeaks memory) {
    double candidateMs = rounds.candidateMs();
    double referenceMs = rounds.referenceMs();
    Ratio ratio = rounds.ratio();
    Double gbs = per(size.bytes(), candidateMs * 1e6);
    Double tflops = per(size.flops(), candidateMs * 1e9);
    SpeedOfLight light = SpeedOfLight.of(size, peaks).orElse(null);
    return new SizeTiming(
        asked.shape(),
        candidateMs,
        referenceMs,
        ratio.value(),
        ratio.low(),
        ratio.high(),
        gbs,
        tflops,
        share(gbs, peaks.copyGbs()),
        share(tflops, peaks.tflops(size.precision())),
        rounds.size(),
        size.bytes() == null ? null : per(size.flops(), size.bytes()),
        light == null ? null : light.bound(),
        light == null ? null : light.ms(),
        light == null ? null : light.score(candidateMs, referenceMs),
        conditions.clocks(),
        conditions.throttle(),
        python == null ? null : launched(python),
        rounds.hostBound() ? true : null,
        memory.candidate(),
        memory.reference(),
        rounds.raw(),
        asked.weight());
  }

  private static Launched launched(PairedSamples rounds) {
    Ratio ratio = rounds.ratio();
    return new Launched(
        rounds.candidateMs(), rounds.referenceMs(), ratio.value(), ratio.low(), ratio.high());
  }

  /** A count divided by a value; null if either is unknown. */
  private static @Nullable Double per(@Nullable Long count, double of) {
    return count == null || count == 0 || of == 0 ? null : count / of;
  }

  private static @Nullable Double share(@Nullable Double achieved, @Nullable Double peak) {
    return achieved == null || peak == null ? null : achieved / peak;
  }
}

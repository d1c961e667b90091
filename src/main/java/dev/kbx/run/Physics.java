package dev.kbx.run;

import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.worker.Message;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What one size asks of the device, by the reference's own count, against what the device can do.
 *
 * @param bytes arguments and results, each once; null where unknown
 * @param flops floating-point operations of the reference; null where they could not be counted
 * @param peaks measured figures of this device, as in {@link Message.Peaks}
 * @param floor the time no kernel can stay below
 */
record Physics(@Nullable Long bytes, @Nullable Long flops, Map<String, Double> peaks, Floor floor) {

  static Physics of(Message.PreparedSize size, Map<String, Double> peaks) {
    return new Physics(
        size.bytes(), size.flops(), peaks, Floor.of(peaks, size.leastBytes(), size.flushBytes()));
  }

  /** Evidence, if these rounds show a time that cannot be. */
  Optional<String> broken(Rounds rounds) {
    return floor.broken(rounds.candidateMs(), rounds.referenceMs());
  }

  /** The figures of a size for its verdict. */
  SizeTiming timing(String shape, Rounds rounds) {
    double candidateMs = rounds.candidateMs();
    Ratio ratio = rounds.ratio();
    Double gbs = bytes == null ? null : bytes / candidateMs / 1e6;
    Double tflops = flops == null || flops == 0 ? null : flops / candidateMs / 1e9;
    Double peak = peaks.get("copy_gbs");
    return new SizeTiming(
        shape,
        candidateMs,
        rounds.referenceMs(),
        ratio.value(),
        ratio.low(),
        ratio.high(),
        gbs,
        tflops,
        gbs == null || peak == null ? null : gbs / peak,
        null,
        rounds.size());
  }
}

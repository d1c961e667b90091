package dev.kbx.timing;

import static dev.kbx.timing.Defaults.CONFIDENCE;

import dev.kbx.stats.LogMean;
import dev.kbx.stats.Ratio;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rounds of a size as a verdict keeps them, of a candidate or of a compiled reference, so that
 * anybody can compute its figures again: what is left after stalls and gaps were settled, in the
 * order in which they were measured. A verdict holds them as base64 of three doubles and a byte
 * each, which takes a third of their digits.
 */
public final class RawRounds {
  private static final int BYTES = 3 * Double.BYTES + 1;
  private static final int REFERENCE_FIRST = 1;
  private static final int HOST_BOUND = 2;

  private RawRounds() {}

  /**
   * The figures of a size.
   *
   * @param rounds number of rounds behind the interval
   * @param log of the speedup, for the mean over sizes
   */
  public record Figures(
      double candidateMs,
      double referenceMs,
      Ratio speedup,
      int rounds,
      boolean hostBound,
      LogMean log) {
    static Figures of(PairedSamples samples) {
      return new Figures(
          samples.candidateMs(),
          samples.referenceMs(),
          samples.ratio(),
          samples.size(),
          samples.hostBound(),
          samples.logSpeedup());
    }
  }

  static String text(List<Round> rounds) {
    ByteBuffer bytes = ByteBuffer.allocate(rounds.size() * BYTES);
    for (Round round : rounds) {
      bytes
          .putDouble(round.candidateMs())
          .putDouble(round.referenceMs())
          .putDouble(round.stepMs())
          .put(flags(round));
    }
    return Base64.getEncoder().encodeToString(bytes.array());
  }

  private static byte flags(Round round) {
    int flags = round.referenceFirst() ? REFERENCE_FIRST : 0;
    return (byte) (round.hostBound() ? flags | HOST_BOUND : flags);
  }

  /**
   * What a verdict keeps, as numbers: for each round the milliseconds of the candidate, those of
   * the reference, the step of the clock, 1 if the reference went first, and 1 if the device may
   * have waited for the host.
   *
   * @throws IllegalArgumentException if the text is none of a verdict
   */
  public static List<List<Double>> rows(String text) {
    ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(text));
    if (bytes.remaining() % BYTES != 0) throw new IllegalArgumentException("not rounds: " + text);
    List<List<Double>> rows = new ArrayList<>();
    while (bytes.hasRemaining()) {
      double candidate = bytes.getDouble();
      double reference = bytes.getDouble();
      double step = bytes.getDouble();
      int flags = bytes.get();
      rows.add(
          List.of(
              candidate,
              reference,
              step,
              (flags & REFERENCE_FIRST) != 0 ? 1.0 : 0.0,
              (flags & HOST_BOUND) != 0 ? 1.0 : 0.0));
    }
    return rows;
  }

  /**
   * The figures that follow from the rounds, computed as when they were measured.
   *
   * @throws IllegalArgumentException if these are not rounds
   */
  public static Figures figures(List<List<Double>> rows) {
    PairedSamples samples = new PairedSamples(1);
    if (rows.size() < 2) throw new IllegalArgumentException("fewer than two rounds");
    for (List<Double> row : rows) {
      if (row.size() != 5 || !(row.get(0) > 0) || !(row.get(1) > 0)) {
        throw new IllegalArgumentException("no round: " + row);
      }
      samples.add(
          new Round(row.get(0), 0, 0, row.get(1), row.get(3) != 0, row.get(2), row.get(4) != 0));
    }
    return Figures.of(samples);
  }

  /**
   * The speedup of a task over a compiled reference.
   *
   * @param overEager the speedup over eager
   * @param gains eager's time over the compiled reference's, of each size
   * @param weights as for {@link #speedup}
   */
  public static Ratio overCompiled(
      Ratio overEager, List<Ratio> gains, @Nullable List<Double> weights) {
    return overEager.over(weights == null ? Ratio.mean(gains) : Ratio.total(gains, weights));
  }

  /**
   * The speedup of a task that follows from its sizes.
   *
   * @param weights parts of eager's time; null for the geometric mean
   */
  public static Ratio speedup(List<LogMean> sizes, @Nullable List<Double> weights) {
    return weights == null
        ? Ratio.ofSizes(sizes, CONFIDENCE)
        : Ratio.ofTotal(sizes, weights, CONFIDENCE);
  }
}

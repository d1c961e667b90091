package dev.kbx.report;

import dev.kbx.analysis.VerdictRow;
import dev.kbx.verdict.BriefVerdict.Efficiency;
import dev.kbx.verdict.BriefVerdict.Sizes;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Break;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One line of the page's table of candidates: all that it is sorted, searched and filtered by.
 *
 * @param id what addresses call it
 * @param task {@code Category/name}
 * @param maker index into the page's methods and models
 * @param seconds of all stages; null if none is known
 * @param speedup value, lower and upper end of its 95 % interval; the value alone if there is no
 *     interval; null without one
 * @param roof operations for each byte and 10¹² operations a second, at the size that takes the
 *     reference longest; null if one is not known
 * @param reason why it ended so, in a line or two
 */
record PageRow(
    String id,
    String task,
    int sample,
    @Nullable Integer round,
    int maker,
    String source,
    String status,
    String stage,
    @Nullable Double seconds,
    @Nullable List<Double> speedup,
    @Nullable List<Double> roof,
    String reason) {
  /** Maximum characters of a message; the details have the full one. */
  static final int LONGEST_MESSAGE = 400;

  static PageRow of(Verdict verdict, VerdictRow row, String id, int maker) {
    Verdict.Speedup speedup = row.correct() ? row.speedup() : null;
    return new PageRow(
        id,
        row.path(),
        row.sample(),
        row.round(),
        maker,
        row.source(),
        row.status().label(),
        verdict.judgement().stage().label(),
        verdict.judgement().seconds().isEmpty() ? null : round(sum(verdict)),
        speedup == null ? null : figures(speedup),
        roof(row.sizes()),
        reason(verdict));
  }

  private static List<Double> figures(Verdict.Speedup speedup) {
    if (!speedup.hasInterval()) return List.of(round(speedup.value()));
    return List.of(round(speedup.value()), round(speedup.low()), round(speedup.high()));
  }

  private static double sum(Verdict verdict) {
    return verdict.judgement().seconds().values().stream().mapToDouble(Double::doubleValue).sum();
  }

  /** Rounds to as many digits as a table or a chart shows. */
  private static double round(double value) {
    return Math.round(value * 1e4) / 1e4;
  }

  private static @Nullable List<Double> roof(@Nullable Sizes sizes) {
    Efficiency largest = sizes == null ? null : sizes.largest();
    if (largest == null) return null;
    Double intensity = largest.intensity();
    Double tflops = largest.tflops();
    return intensity == null || tflops == null ? null : List.of(intensity, tflops);
  }

  private static String reason(Verdict verdict) {
    List<String> parts = new ArrayList<>();
    add(
        parts,
        verdict.judgement().rule() == null
            ? verdict.judgement().evidence()
            : verdict.judgement().rule());
    add(parts, cut(verdict.judgement().message()));
    List<Break> breaks = verdict.judgement().breaks();
    if (verdict.judgement().status() == Status.CORRECT && breaks != null && !breaks.isEmpty()) {
      parts.add(
          "breaks on " + breaks.stream().map(Break::property).collect(Collectors.joining(", ")));
    }
    List<String> flags = Notes.flags(verdict);
    String flagged = flags.isEmpty() ? "" : " [" + String.join(", ", flags) + "]";
    return (String.join(": ", parts) + flagged).strip();
  }

  private static void add(List<String> parts, @Nullable String part) {
    if (part != null && !part.isEmpty()) parts.add(part);
  }

  private static @Nullable String cut(@Nullable String message) {
    if (message == null || message.length() <= LONGEST_MESSAGE) return message;
    return message.substring(0, LONGEST_MESSAGE) + "…";
  }
}

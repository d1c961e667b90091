package dev.kbx.paper;

import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Clocks;
import dev.kbx.verdict.Verdict.Launched;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A row of {@code sizes.csv} and {@code sizes.parquet}: one timed size of one verdict. As {@link
 * VerdictColumns}; the columns up to {@code candidate} lead to the verdict.
 */
record SizeColumns(
    int schema,
    String run,
    String suite,
    String category,
    String task,
    @Nullable String method,
    @Nullable String model,
    @Nullable Integer round,
    int sample,
    String candidate,
    int size,
    String shape,
    double candidateMs,
    double referenceMs,
    double speedup,
    double low,
    double high,
    int rounds,
    @Nullable Double gbs,
    @Nullable Double tflops,
    @Nullable Double iou,
    @Nullable Double mfu,
    @Nullable Double intensity,
    @Nullable String bound,
    @Nullable Double solMs,
    @Nullable Double solScore,
    @Nullable Double smMhz,
    @Nullable Double memoryMhz,
    @Nullable Double celsius,
    @Nullable Double watts,
    @Nullable String throttle,
    @Nullable Boolean hostBound,
    @Nullable Double launchedCandidateMs,
    @Nullable Double launchedReferenceMs,
    @Nullable Double launchedSpeedup,
    @Nullable Double launchedLow,
    @Nullable Double launchedHigh,
    @Nullable Long peakBytes,
    @Nullable Long referencePeakBytes,
    String deviceName,
    @Nullable String deviceUuid) {

  /** Those of a verdict; none if it was not timed. */
  static List<SizeColumns> of(Verdict verdict) {
    List<SizeTiming> sizes = verdict.judgement().sizes();
    List<SizeColumns> rows = new ArrayList<>();
    if (sizes == null) return rows;
    for (SizeTiming size : sizes) rows.add(of(verdict, rows.size(), size));
    return rows;
  }

  private static SizeColumns of(Verdict v, int number, SizeTiming size) {
    Clocks clocks = size.clocks();
    Launched launched = size.launched();
    List<String> throttle = size.throttle();
    return new SizeColumns(
        DataFiles.SCHEMA,
        v.provenance().run(),
        v.provenance().suite(),
        v.provenance().category(),
        v.provenance().task(),
        v.provenance().method(),
        v.provenance().model(),
        v.provenance().round(),
        v.provenance().sample(),
        v.provenance().candidate(),
        number,
        size.shape(),
        size.candidateMs(),
        size.referenceMs(),
        size.speedup(),
        size.low(),
        size.high(),
        size.rounds(),
        size.gbs(),
        size.tflops(),
        size.iou(),
        size.mfu(),
        size.intensity(),
        size.bound() == null ? null : size.bound().label(),
        size.solMs(),
        size.solScore(),
        clocks == null ? null : clocks.smMhz(),
        clocks == null ? null : clocks.memoryMhz(),
        clocks == null ? null : clocks.celsius(),
        clocks == null ? null : clocks.watts(),
        throttle == null ? null : VerdictColumns.list(throttle),
        size.hostBound(),
        launched == null ? null : launched.candidateMs(),
        launched == null ? null : launched.referenceMs(),
        launched == null ? null : launched.speedup(),
        launched == null ? null : launched.low(),
        launched == null ? null : launched.high(),
        size.peakBytes(),
        size.referencePeakBytes(),
        v.judgement().device().name(),
        v.judgement().device().uuid());
  }
}

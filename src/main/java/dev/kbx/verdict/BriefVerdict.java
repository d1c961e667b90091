package dev.kbx.verdict;

import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.Break;
import dev.kbx.verdict.Verdict.Device;
import dev.kbx.verdict.Verdict.Origin;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import dev.kbx.verdict.Verdict.WithoutPolicy;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a verdict's JSON that analyses need. Reading these alone takes half the time, which
 * counts for a hundred thousand verdicts. Fields are as in {@link Provenance} and {@link
 * Judgement}.
 */
record BriefVerdict(
    String run,
    String candidate,
    String source,
    String suite,
    String task,
    String category,
    int sample,
    @Nullable String method,
    @Nullable String model,
    @Nullable Integer round,
    Status status,
    Stage stage,
    @Nullable Boolean callOk,
    @Nullable Boolean exeOk,
    @Nullable Boolean perfOk,
    @Nullable Boolean publishedOk,
    @Nullable Boolean generalOk,
    @Nullable List<String> holds,
    @Nullable List<Break> breaks,
    @Nullable String message,
    @Nullable String rule,
    @Nullable String evidence,
    @Nullable WithoutPolicy withoutPolicy,
    List<String> flags,
    @Nullable Speedup speedup,
    @Nullable List<Size> sizes,
    @Nullable List<Baseline> baselines,
    @Nullable Share origin,
    Device device) {

  BriefVerdict {
    // Thrown here, it is an error of the text to whoever reads it.
    for (Object needed : new Object[] {run, candidate, source, suite, task, category, device}) {
      Objects.requireNonNull(needed, "a verdict has run, candidate, source, task and device");
    }
    Objects.requireNonNull(status, "a verdict has a status");
    Objects.requireNonNull(stage, "a verdict has a stage");
    Objects.requireNonNull(flags, "a verdict has flags");
  }

  /** The times of one size. */
  record Size(
      String shape,
      double candidateMs,
      double referenceMs,
      double speedup,
      double low,
      double high) {
    private SizeTiming timing() {
      return new SizeTiming(
          shape,
          candidateMs,
          referenceMs,
          speedup,
          low,
          high,
          null,
          null,
          null,
          null,
          0,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null);
    }
  }

  /** Who computed the results, without the operations. */
  record Share(double kernelShare, @Nullable Double foreignShare) {}

  /** The verdict; what it has not is absent. */
  Verdict verdict() {
    return new Verdict(
        new Provenance(run, candidate, source, suite, task, category, sample, method, model, round),
        new Judgement(
            status,
            stage,
            callOk,
            exeOk,
            perfOk,
            null,
            null,
            null,
            publishedOk,
            generalOk,
            holds,
            breaks,
            message,
            rule,
            evidence,
            withoutPolicy,
            flags,
            speedup,
            sizes == null ? null : sizes.stream().map(Size::timing).toList(),
            baselines,
            null,
            null,
            null,
            null,
            null,
            null,
            origin == null
                ? null
                : new Origin(origin.kernelShare(), origin.foreignShare(), List.of()),
            null,
            null,
            device,
            Map.of(),
            Map.of()));
  }
}

package dev.kbx.paper;

import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Break;
import dev.kbx.verdict.Verdict.Compile;
import dev.kbx.verdict.Verdict.Origin;
import dev.kbx.verdict.Verdict.Speedup;
import dev.kbx.verdict.Verdict.WithoutPolicy;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A row of {@code verdicts.csv} and {@code verdicts.parquet}: the components are the columns, in
 * snake case, as docs/formats.md describes them. What was not measured is null.
 */
record VerdictColumns(
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
    String source,
    String status,
    String stage,
    @Nullable Boolean callOk,
    @Nullable Boolean exeOk,
    @Nullable Boolean perfOk,
    @Nullable Boolean correct,
    @Nullable Boolean publishedOk,
    @Nullable Boolean generalOk,
    @Nullable String grade,
    @Nullable String precision,
    @Nullable String policy,
    @Nullable String statusWithoutPolicy,
    @Nullable String rule,
    @Nullable String message,
    @Nullable String evidence,
    String flags,
    @Nullable String holds,
    @Nullable String breaks,
    @Nullable Double speedup,
    @Nullable Double speedupLow,
    @Nullable Double speedupHigh,
    @Nullable String baseline,
    @Nullable Integer timedSizes,
    @Nullable Double kernelShare,
    @Nullable Double foreignShare,
    @Nullable String arch,
    @Nullable Integer registers,
    @Nullable Integer sharedBytes,
    @Nullable Integer spills,
    @Nullable Double maxAbs,
    @Nullable Double maxRel,
    @Nullable Double errorRatio,
    String deviceKind,
    String deviceName,
    @Nullable String deviceUuid,
    @Nullable String driver,
    @Nullable String kbx,
    @Nullable String python,
    @Nullable String torch,
    @Nullable String triton,
    @Nullable Double staticSeconds,
    @Nullable Double compileSeconds,
    @Nullable Double callSeconds,
    @Nullable Double correctSeconds,
    @Nullable Double perfSeconds) {

  static VerdictColumns of(Verdict v) {
    Speedup speedup = v.speedup();
    // A published speedup has none.
    Speedup interval = speedup == null || Double.isInfinite(speedup.high()) ? null : speedup;
    Origin origin = v.origin();
    Compile compile = v.compile();
    WithoutPolicy without = v.withoutPolicy();
    List<Break> breaks = v.breaks();
    Map<String, Double> errors = v.errorMetrics() == null ? Map.of() : v.errorMetrics();
    return new VerdictColumns(
        DataFiles.SCHEMA,
        v.run(),
        v.suite(),
        v.category(),
        v.task(),
        v.method(),
        v.model(),
        v.round(),
        v.sample(),
        v.candidate(),
        v.source(),
        v.status().label(),
        v.stage().label(),
        v.callOk(),
        v.exeOk(),
        v.perfOk(),
        v.correct(),
        v.publishedOk(),
        v.generalOk(),
        v.grade(),
        v.precision(),
        v.policy(),
        without == null ? null : without.status().label(),
        v.rule(),
        v.message(),
        v.evidence(),
        list(v.flags()),
        v.holds() == null ? null : list(v.holds()),
        breaks == null ? null : list(breaks.stream().map(Break::property).toList()),
        speedup == null ? null : speedup.value(),
        interval == null ? null : interval.low(),
        interval == null ? null : interval.high(),
        speedup == null ? null : speedup.baseline(),
        v.sizes() == null ? null : v.sizes().size(),
        origin == null ? null : origin.kernelShare(),
        origin == null ? null : origin.foreignShare(),
        compile == null ? v.device().arch() : compile.arch(),
        compile == null ? null : compile.registers(),
        compile == null ? null : compile.sharedBytes(),
        compile == null ? null : compile.spills(),
        errors.get("max_abs"),
        errors.get("max_rel"),
        errors.get("error_ratio"),
        v.device().kind(),
        v.device().name(),
        v.device().uuid(),
        v.device().driver(),
        v.versions().get("kbx"),
        v.versions().get("python"),
        v.versions().get("torch"),
        v.versions().get("triton"),
        v.seconds().get("static"),
        v.seconds().get("compile"),
        v.seconds().get("call"),
        v.seconds().get("correct"),
        v.seconds().get("perf"));
  }

  /** Several values in one column. */
  static String list(List<String> values) {
    return String.join(";", values);
  }
}

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
    Speedup speedup = v.judgement().speedup();
    // A published speedup has none.
    Speedup interval = speedup == null || Double.isInfinite(speedup.high()) ? null : speedup;
    Origin origin = v.judgement().origin();
    Compile compile = v.judgement().compile();
    WithoutPolicy without = v.judgement().withoutPolicy();
    List<Break> breaks = v.judgement().breaks();
    Map<String, Double> errors =
        v.judgement().errorMetrics() == null ? Map.of() : v.judgement().errorMetrics();
    return new VerdictColumns(
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
        v.provenance().source(),
        v.judgement().status().label(),
        v.judgement().stage().label(),
        v.judgement().callOk(),
        v.judgement().exeOk(),
        v.judgement().perfOk(),
        v.judgement().correct(),
        v.judgement().publishedOk(),
        v.judgement().generalOk(),
        v.judgement().grade(),
        v.judgement().precision(),
        v.judgement().policy(),
        without == null ? null : without.status().label(),
        v.judgement().rule(),
        v.judgement().message(),
        v.judgement().evidence(),
        list(v.judgement().flags()),
        v.judgement().holds() == null ? null : list(v.judgement().holds()),
        breaks == null ? null : list(breaks.stream().map(Break::property).toList()),
        speedup == null ? null : speedup.value(),
        interval == null ? null : interval.low(),
        interval == null ? null : interval.high(),
        speedup == null ? null : speedup.baseline(),
        v.judgement().sizes() == null ? null : v.judgement().sizes().size(),
        origin == null ? null : origin.kernelShare(),
        origin == null ? null : origin.foreignShare(),
        compile == null ? v.judgement().device().arch() : compile.arch(),
        compile == null ? null : compile.registers(),
        compile == null ? null : compile.sharedBytes(),
        compile == null ? null : compile.spills(),
        errors.get("max_abs"),
        errors.get("max_rel"),
        errors.get("error_ratio"),
        v.judgement().device().kind(),
        v.judgement().device().name(),
        v.judgement().device().uuid(),
        v.judgement().device().driver(),
        v.judgement().versions().get("kbx"),
        v.judgement().versions().get("python"),
        v.judgement().versions().get("torch"),
        v.judgement().versions().get("triton"),
        v.judgement().seconds().get("static"),
        v.judgement().seconds().get("compile"),
        v.judgement().seconds().get("call"),
        v.judgement().seconds().get("correct"),
        v.judgement().seconds().get("perf"));
  }

  /** Several values in one column. */
  static String list(List<String> values) {
    return String.join(";", values);
  }
}

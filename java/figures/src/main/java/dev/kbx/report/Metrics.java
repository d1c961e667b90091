package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.io.Writer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * One entry of {@code metrics.json}, with KernelBenchX's fields and conventions: {@code "N/A"} for
 * numbers of a candidate that was not timed, {@code ""} for unknown text, {@code {}} for code
 * quality that was not measured. A stage that was not requested or measured is null, which its
 * readers treat as false; false is written only if the stage or an earlier one failed.
 */
@JsonInclude
@JsonPropertyOrder({
  "file",
  "call_ok",
  "exe_ok",
  "perf_ok",
  "dtype",
  "speed",
  "maintainability",
  "code_quality",
  "performance",
  "error",
  "code"
})
record Metrics(
    String file,
    @Nullable Boolean callOk,
    @Nullable Boolean exeOk,
    @Nullable Boolean perfOk,
    String dtype,
    @JsonUnwrapped Speed speed,
    Object maintainability,
    Map<String, Double> codeQuality,
    List<Size> performance,
    String error,
    String code) {
  private static final String NOT_AVAILABLE = "N/A";

  /**
   * Figures over all sizes.
   *
   * @param runtimeMs sum over the sizes
   * @param gbs 10⁹ bytes a second: all bytes over all time
   * @param tflops likewise
   * @param speedup geometric mean over the sizes
   */
  @JsonPropertyOrder({"runtime_ms", "gbs", "tflops", "speedup"})
  record Speed(Object runtimeMs, Object gbs, Object tflops, Object speedup) {}

  /** One benchmark size, under KernelBenchX's names; what it held of memory is kbx's own. */
  @JsonInclude
  @JsonPropertyOrder({"input_size", "ms", "GB/s", "TFLOPS", "peak_bytes"})
  record Size(
      String inputSize,
      double ms,
      @JsonProperty("GB/s") @Nullable Double gbs,
      @JsonProperty("TFLOPS") @Nullable Double tflops,
      @Nullable Long peakBytes) {}

  /**
   * Writes the entries of a submission in the order of their keys: {@code Category/task.py} for
   * sample 0, {@code Category/task.py#1} for sample 1 and so on.
   */
  static void write(
      Writer writer,
      ResultFileSet submission,
      RunVerdicts verdicts,
      Function<Verdict, String> sourceOf) {
    var entries = new TreeMap<String, RunVerdicts.Entry>();
    for (RunVerdicts.Entry entry : submission.entries()) entries.put(key(entry.row()), entry);
    try (JsonGenerator generator = RunVerdicts.JSON.createGenerator(writer)) {
      generator.writeStartObject();
      entries.forEach((key, entry) -> {
        Verdict verdict = verdicts.whole(entry);
        generator.writeName(key);
        RunVerdicts.JSON.writeValue(
            generator, of(file(entry.row()), verdict, sourceOf.apply(verdict)));
      });
      generator.writeEndObject();
    }
  }

  private static String key(VerdictRow row) {
    return file(row) + (row.sample() == 0 ? "" : "#" + row.sample());
  }

  private static String file(VerdictRow row) {
    return row.path() + ".py";
  }

  private static Metrics of(String file, Verdict verdict, String code) {
    Map<String, Double> quality =
        verdict.judgement().quality() == null ? Map.of() : verdict.judgement().quality();
    Boolean exeOk = after(verdict.judgement().callOk(), verdict.judgement().exeOk());
    Boolean perfOk = after(exeOk, verdict.judgement().perfOk());
    boolean timed = Objects.equals(perfOk, true);
    List<SizeTiming> sizes =
        timed && verdict.judgement().sizes() != null ? verdict.judgement().sizes() : List.of();
    var speedup = timed ? verdict.judgement().speedup() : null;
    return new Metrics(
        file,
        verdict.judgement().callOk(),
        exeOk,
        perfOk,
        "",
        new Speed(
            sizes.isEmpty() ? NOT_AVAILABLE : milliseconds(sizes),
            throughput(sizes, SizeTiming::gbs),
            throughput(sizes, SizeTiming::tflops),
            speedup == null ? NOT_AVAILABLE : speedup.value()),
        quality.containsKey("maintainability_index")
            ? quality.get("maintainability_index")
            : NOT_AVAILABLE,
        quality,
        sizes.stream()
            .map(s -> new Size(s.shape(), s.candidateMs(), s.gbs(), s.tflops(), s.peakBytes()))
            .toList(),
        Stream.of(verdict.judgement().evidence(), verdict.judgement().message())
            .filter(Objects::nonNull)
            .collect(Collectors.joining("; ")),
        code);
  }

  /** A stage's flag, which is false once the stage before it failed. */
  private static @Nullable Boolean after(@Nullable Boolean before, @Nullable Boolean flag) {
    return Objects.equals(before, false) ? before : flag;
  }

  private static double milliseconds(List<SizeTiming> sizes) {
    return sizes.stream().mapToDouble(SizeTiming::candidateMs).sum();
  }

  /** Total work over total time; not available if the work of a size is unknown. */
  private static Object throughput(
      List<SizeTiming> sizes, Function<SizeTiming, @Nullable Double> rate) {
    if (sizes.isEmpty()) return NOT_AVAILABLE;
    double work = 0;
    for (SizeTiming size : sizes) {
      Double achieved = rate.apply(size);
      if (achieved == null) return NOT_AVAILABLE;
      work += achieved * size.candidateMs();
    }
    return work / milliseconds(sizes);
  }
}

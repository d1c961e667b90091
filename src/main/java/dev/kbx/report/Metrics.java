package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
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
import tools.jackson.databind.ObjectWriter;

/**
 * One entry of {@code metrics.json}, with KernelBenchX's fields and conventions: {@code "N/A"} for
 * numbers of a candidate that was not timed, {@code ""} for unknown text, {@code {}} for code
 * quality that was not measured. A stage that was not asked for or could not be measured is null,
 * which its readers take for false; false is written only where a stage failed or an earlier one
 * did.
 *
 * @param runtimeMs sum over the sizes
 * @param gbs 10⁹ bytes a second over all sizes: all bytes over all time
 * @param tflops likewise
 * @param speedup geometric mean over the sizes
 */
@JsonPropertyOrder({
  "file",
  "call_ok",
  "exe_ok",
  "perf_ok",
  "dtype",
  "runtime_ms",
  "gbs",
  "tflops",
  "speedup",
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
    Object runtimeMs,
    Object gbs,
    Object tflops,
    Object speedup,
    Object maintainability,
    Map<String, Double> codeQuality,
    List<Size> performance,
    String error,
    String code) {
  private static final String NOT_AVAILABLE = "N/A";

  /** One benchmark size, under KernelBenchX's names. */
  @JsonPropertyOrder({"input_size", "ms", "GB/s", "TFLOPS"})
  record Size(
      String inputSize,
      double ms,
      @JsonProperty("GB/s") @Nullable Double gbs,
      @JsonProperty("TFLOPS") @Nullable Double tflops) {}

  /**
   * Writes all entries in the order of their keys: {@code Category/task.py} for sample 0, and so
   * for every candidate of a run with one sample a task; {@code Category/task.py#1} for sample 1
   * and so on. Samples are numbered for each method, model and round: where several have the same,
   * it is {@code Category/task.py#method/model/round/sample} for each of them.
   */
  static void write(
      Writer writer, ObjectWriter json, RunVerdicts verdicts, Function<Verdict, String> sourceOf) {
    Map<String, List<RunVerdicts.Row>> keys =
        verdicts.rows().stream().collect(Collectors.groupingBy(row -> key(row.outline())));
    var entries = new TreeMap<String, RunVerdicts.Row>();
    keys.forEach((key, rows) -> {
      for (RunVerdicts.Row row : rows) entries.put(rows.size() == 1 ? key : fullKey(row), row);
    });
    try (JsonGenerator generator = json.createGenerator(writer)) {
      generator.writeStartObject();
      entries.forEach((key, row) -> {
        Verdict verdict = verdicts.whole(row);
        generator.writeName(key);
        json.writeValue(generator, of(verdict, sourceOf.apply(verdict)));
      });
      generator.writeEndObject();
    }
  }

  private static String key(Verdict verdict) {
    return file(verdict) + (verdict.sample() == 0 ? "" : "#" + verdict.sample());
  }

  private static String fullKey(RunVerdicts.Row row) {
    Verdict v = row.outline();
    return Stream.of(v.method(), v.model(), v.round(), v.sample())
        .map(part -> part == null ? "" : part.toString())
        .collect(Collectors.joining("/", file(v) + "#", ""));
  }

  private static String file(Verdict verdict) {
    return Tally.taskOf(verdict) + ".py";
  }

  private static Metrics of(Verdict verdict, String code) {
    Map<String, Double> quality = verdict.quality() == null ? Map.of() : verdict.quality();
    Boolean exeOk = after(verdict.callOk(), correct(verdict));
    Boolean perfOk = after(exeOk, verdict.perfOk());
    boolean timed = Tally.isTrue(perfOk);
    List<SizeTiming> sizes = timed && verdict.sizes() != null ? verdict.sizes() : List.of();
    var speedup = timed ? verdict.speedup() : null;
    return new Metrics(
        file(verdict),
        verdict.callOk(),
        exeOk,
        perfOk,
        "",
        sizes.isEmpty() ? NOT_AVAILABLE : milliseconds(sizes),
        throughput(sizes, SizeTiming::gbs),
        throughput(sizes, SizeTiming::tflops),
        speedup == null ? NOT_AVAILABLE : speedup.value(),
        quality.containsKey("maintainability_index")
            ? quality.get("maintainability_index")
            : NOT_AVAILABLE,
        quality,
        sizes.stream().map(s -> new Size(s.shape(), s.candidateMs(), s.gbs(), s.tflops())).toList(),
        Stream.of(verdict.evidence(), verdict.message())
            .filter(Objects::nonNull)
            .collect(Collectors.joining("; ")),
        code);
  }

  /** One that was refuted while it was timed is not correct. */
  private static @Nullable Boolean correct(Verdict verdict) {
    boolean refuted = Tally.isRefuted(verdict) && verdict.exeOk() != null;
    return refuted ? Boolean.FALSE : verdict.exeOk();
  }

  /** A stage's flag, which is false once the stage before it failed. */
  private static @Nullable Boolean after(@Nullable Boolean before, @Nullable Boolean flag) {
    return Objects.equals(before, false) ? before : flag;
  }

  private static double milliseconds(List<SizeTiming> sizes) {
    return sizes.stream().mapToDouble(SizeTiming::candidateMs).sum();
  }

  /** Total work over total time; not available where one size's work is unknown. */
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

package dev.kbx.paper;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.verdict.Field;
import dev.kbx.verdict.Fields;
import dev.kbx.verdict.Fields.Doc;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.Compile;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The columns of verdicts and of timed sizes in CSV and Parquet. What was not measured is null. */
final class Columns {
  /** Version of the columns; a change of meaning or the loss of a column raises it. */
  static final int SCHEMA = 1;

  /** The columns of {@code verdicts}, a row a verdict. */
  static final List<Field<Verdict>> VERDICTS =
      Fields.VERDICT
          .and(
              Field.of("schema", Field.Type.INTEGER, "version of these columns: 1", _ -> SCHEMA),
              Field.of(
                  "correct",
                  Field.Type.BOOLEAN,
                  "the status is `correct`; absent if the results of such a one were not compared,"
                      + " and if the task or kbx failed",
                  verdict -> verdict.judgement().correct()),
              Fields.VERDICT.at("speedup.low").as("speedup_low").where(Columns::hasInterval),
              Fields.VERDICT.at("speedup.high").as("speedup_high").where(Columns::hasInterval),
              Field.of(
                  "expert_share",
                  Field.Type.NUMBER,
                  "share of the speed of the expert's kernel that it was timed beside",
                  verdict -> expert(verdict, Baseline::speedup)),
              Field.of(
                  "expert_low",
                  Field.Type.NUMBER,
                  "lower end of its 95 % interval",
                  verdict -> expert(verdict, Baseline::low)),
              Field.of(
                  "expert_high",
                  Field.Type.NUMBER,
                  "upper end of its 95 % interval",
                  verdict -> expert(verdict, Baseline::high)),
              Field.of(
                  "timed_sizes",
                  Field.Type.INTEGER,
                  "number of rows in `sizes`",
                  Columns::timedSizes),
              Field.of(
                  "arch",
                  Field.Type.TEXT,
                  "architecture that launches were compiled for, else that of the device",
                  Columns::arch))
          .select(
              """
              schema, run, suite, category, task, method, model, round, sample, candidate, source,
              status, stage, call_ok, exe_ok, perf_ok, correct, published_ok, general_ok,
              grade, precision, policy, without_policy.status as status_without_policy,
              rule, message, evidence, flags, holds, breaks[].property as breaks,
              speedup.value as speedup, speedup_low, speedup_high, speedup.baseline as baseline, timed_sizes,
              origin.kernel_share as kernel_share, origin.foreign_share as foreign_share,
              arch, compile.registers as registers, compile.shared_bytes as shared_bytes, compile.spills as spills,
              error_metrics.max_abs as max_abs, error_metrics.max_rel as max_rel,
              error_metrics.error_ratio as error_ratio,
              device.kind as device_kind, device.name as device_name, device.uuid as device_uuid, device.driver as driver,
              versions.kbx as kbx, versions.python as python, versions.torch as torch, versions.triton as triton,
              seconds.static as static_seconds, seconds.compile as compile_seconds, seconds.call as call_seconds,
              seconds.correct as correct_seconds, seconds.perf as perf_seconds,
              compared_calls, expert_share, expert_low, expert_high
              """);

  /**
   * The columns of {@code sizes}, a row a timed size; those up to {@code candidate} lead to its
   * verdict.
   */
  static final List<Field<TimedSize>> SIZES =
      Fields.of(TimedSize.class)
          .and(Field.of("schema", Field.Type.INTEGER, "version of these columns: 1", _ -> SCHEMA))
          .select(
              """
              schema, run, suite, category, task, method, model, round, sample, candidate, size, shape,
              candidate_ms, reference_ms, speedup, low, high, rounds, gbs, tflops, iou, mfu, intensity, bound,
              sol_ms, sol_score, clocks.sm_mhz as sm_mhz, clocks.memory_mhz as memory_mhz,
              clocks.celsius as celsius, clocks.watts as watts, throttle, host_bound,
              launched.candidate_ms as launched_candidate_ms, launched.reference_ms as launched_reference_ms,
              launched.speedup as launched_speedup, launched.low as launched_low, launched.high as launched_high,
              peak_bytes, reference_peak_bytes, device.name as device_name, device.uuid as device_uuid, weight
              """);

  private Columns() {}

  /** One size that a candidate was timed at. */
  record TimedSize(
      @JsonUnwrapped Verdict verdict,
      @Doc("number of the size, from 0") int size,
      @JsonUnwrapped SizeTiming timing) {
    /** The timed sizes of a verdict; none if it was not timed. */
    static Stream<TimedSize> of(Verdict verdict) {
      List<SizeTiming> sizes = verdict.judgement().sizes();
      if (sizes == null) return Stream.empty();
      return IntStream.range(0, sizes.size())
          .mapToObj(i -> new TimedSize(verdict, i, sizes.get(i)));
    }
  }

  /** A published speedup has none. */
  private static boolean hasInterval(Verdict verdict) {
    Speedup speedup = verdict.judgement().speedup();
    return speedup != null && speedup.hasInterval();
  }

  private static @Nullable Double expert(
      Verdict verdict, Function<Baseline, @Nullable Double> figure) {
    Baseline expert = verdict.judgement().expert();
    return expert == null ? null : figure.apply(expert);
  }

  private static @Nullable Integer timedSizes(Verdict verdict) {
    List<SizeTiming> sizes = verdict.judgement().sizes();
    return sizes == null ? null : (Integer) sizes.size();
  }

  private static @Nullable String arch(Verdict verdict) {
    Compile compile = verdict.judgement().compile();
    return compile == null ? verdict.judgement().device().arch() : compile.arch();
  }
}

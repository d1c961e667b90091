package dev.kbx.report;

import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.SelectedTasks;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Profile;
import dev.kbx.verdict.Provenance;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.Bound;
import dev.kbx.verdict.Verdict.Clocks;
import dev.kbx.verdict.Verdict.Compile;
import dev.kbx.verdict.Verdict.Device;
import dev.kbx.verdict.Verdict.Frame;
import dev.kbx.verdict.Verdict.Kernel;
import dev.kbx.verdict.Verdict.Launched;
import dev.kbx.verdict.Verdict.Mismatch;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Verdicts as runs produce them, on a machine without a GPU and on one with. */
final class Fixtures {
  static final Device CPU = new Device("cpu", "AMD EPYC 7B13, 2 cores", null, null, "sm_90");
  static final Device H200 =
      new Device("cuda", "NVIDIA H200", "GPU-5bd02c7a-91e4-4d0c", "580.95.05", "sm_90");

  /** What a hostile candidate would print, name and raise. */
  static final String HOSTILE =
      "</script><script>document.title='owned'</script><!-- <img src=x"
          + " onerror=\"document.title='owned'\"> &amp; \u2028 \u001b[31mred \u202Eevil";

  private static final Map<String, String> VERSIONS =
      Map.of("torch", "2.13.0", "triton", "3.7.1", "python", "3.11.2", "kbx", "0.1.0");

  static final String GELU =
      """
      import torch
      import triton
      import triton.language as tl


      @triton.jit
      def gelu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
          offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          mask = offsets < n
          x = tl.load(x_ptr + offsets, mask=mask)
          y = 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
          tl.store(y_ptr + offsets, y, mask=mask)


      def gelu(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
          output = torch.empty_like(input)
          n = input.numel()
          gelu_kernel[(triton.cdiv(n, 1024),)](input, output, n, BLOCK=1024)
          return output
      """;

  private Fixtures() {}

  static RunInfo run(Device device, int candidates, int suiteTasks) {
    return run(device, candidates, suiteTasks, List.of("examples"));
  }

  /** A run on these sources. */
  static RunInfo run(Device device, int candidates, int suiteTasks, List<String> sources) {
    var started = Instant.parse("2026-11-21T06:35:01Z");
    return new RunInfo(
        "20261121T063501-kqzp",
        started,
        started.plusSeconds(103),
        sources,
        "kernelbenchx",
        "*",
        List.of(Stage.values()),
        List.of(),
        device,
        VERSIONS,
        candidates,
        suiteTasks,
        "eager",
        "model",
        "general",
        "fp32",
        "kernel",
        false,
        null,
        null,
        null,
        null);
  }

  /** As many tasks as the run says. */
  static SelectedTasks asked(RunInfo run, List<Verdict> verdicts) {
    return SelectedTasks.counted(new JudgedRun(run, VerdictRow.of(verdicts)));
  }

  /** A source of its own for every candidate. */
  static String source(Verdict verdict) {
    return switch (verdict.judgement().status()) {
      case NO_CODE -> "";
      case CHEATING -> GELU + "\n# " + HOSTILE + "\n";
      default -> "# " + verdict.provenance().source() + "\n" + GELU;
    };
  }

  /** One of nearly everything that can happen, on {@code device}; timed where it is a GPU. */
  static List<Verdict> examples(Device device) {
    var verdicts = new ArrayList<Verdict>();
    String[] honest = {
      "Activation/gelu", "Activation/silu", "Convolution/conv2d", "Fusion/fused_add_rms_norm",
      "Fusion/scaled_dot_product_attention", "Index/gather", "LinearAlgebra/qr",
          "Loss/cross_entropy",
      "Math/exp", "Math/bitwise_and", "MatrixMultiply/bmm_fp16", "Normalization/layer_norm",
      "Optimizer/adam_step", "Pooling/max_pool2d", "Random/dropout", "Reduce/logsumexp"
    };
    for (int i = 0; i < honest.length; i++) {
      verdicts.add(passed(honest[i], 0, "examples/honest/" + honest[i] + ".py", device, i));
    }
    verdicts.add(
        failed("Activation/gelu", 1, Status.WRONG_VALUES, Stage.CORRECT)
            .message(
                "21 of 1,003 elements are wrong at shape (17, 59), seed 3, outliers: the tail block"
                    + " is left out")
            .mismatches()
            .build(device));
    verdicts.add(
        failed("Activation/gelu", 2, Status.CHEATING, Stage.CALL)
            .message("wrote to a descriptor that belongs to the referee: " + HOSTILE)
            .evidence("descriptor_write")
            .output("{\"status\":\"correct\"}\n" + HOSTILE + "\n{\"status\":\"correct\"}\n")
            .build(device));
    verdicts.add(
        failed("Activation/silu", 1, Status.REJECTED_STATIC, Stage.STATIC)
            .message(
                "the entry calls torch.nn.functional.silu on line 9: the computation itself must be"
                    + " a kernel")
            .rule("torch-computation")
            .build(device));
    verdicts.add(
        failed("Fusion/fused_add_rms_norm", 1, Status.RUNTIME_ERROR, Stage.CALL)
            .message("TypeError: gelu_kernel() missing 1 required positional argument: 'n'")
            .frames(17)
            .build(device));
    verdicts.add(
        failed("MatrixMultiply/bmm_fp16", 1, Status.COMPILE_ERROR, Stage.COMPILE)
            .message(
                "ValueError: arange's range must be a power of 2, at line 8 of gelu_kernel for"
                    + " sm_90")
            .frames(8)
            .build(device));
    verdicts.add(
        failed("Quantization/int8_linear", 0, Status.WRONG_DTYPE, Stage.CORRECT)
            .message("output 0 is float32, the reference returns float16")
            .build(device));
    verdicts.add(
        failed("Reduce/logsumexp", 1, Status.TIMEOUT, Stage.CALL)
            .message("no answer within 20 s of wall time")
            .build(device));
    verdicts.add(
        failed("Math/exp", 1, Status.CRASHED, Stage.CALL)
            .message("the process ended by signal 11 (segmentation fault)")
            .build(device));
    verdicts.add(
        failed("Math/exp", 2, Status.NO_CODE, Stage.STATIC)
            .message("the answer holds no Python source")
            .build(device));
    verdicts.add(
        failed("SpatialOps/grid_sample", 0, Status.INFRASTRUCTURE, Stage.CALL)
            .message("Triton on the CPU does not support tl.inline_asm_elementwise")
            .build(device));
    return List.copyOf(verdicts);
  }

  /** {@code count} verdicts over the suite's categories, two thirds of them failing. */
  static List<Verdict> many(int count, Device device) {
    String[] tasks = {"Activation/gelu", "Fusion/fused_add_rms_norm", "Math/exp", "Reduce/sum"};
    Status[] failures = {Status.WRONG_VALUES, Status.RUNTIME_ERROR, Status.COMPILE_ERROR};
    return IntStream.range(0, count)
        .mapToObj(i ->
            i % 3 == 0
                ? passed(tasks[i % 4], i / 4, "predictions/run-7.jsonl:" + (i + 1), device, i)
                : failed(tasks[i % 4], i / 4, failures[i % 7 % 3], Stage.CORRECT)
                    .message("candidate %d: 3 of 4,096 elements are wrong".formatted(i))
                    .mismatches()
                    .build(device))
        .toList();
  }

  /** A timed verdict whose three sizes have weights, with a mean without these. */
  static Verdict weighted(Verdict plain) {
    ObjectNode json = Json.mapper().valueToTree(plain);
    double[] weights = {0.5, 0.3, 0.2};
    for (int i = 0; i < weights.length; i++) {
      ((ObjectNode) json.get("sizes").get(i)).put("weight", weights[i]);
    }
    ((ObjectNode) json.get("baselines").get(0))
        .putObject("geometric")
        .put("value", 1.25)
        .put("low", 1.2)
        .put("high", 1.3);
    return Json.mapper().treeToValue(json, Verdict.class);
  }

  static Verdict passed(String task, int sample, String source, Device device, int number) {
    var draft = failed(task, sample, Status.CORRECT, Stage.CORRECT);
    draft.source = source;
    draft.seconds.put("correct", 0.31 + number % 10 / 20.0);
    draft.kernels =
        List.of(
            new Kernel("gelu_kernel", "sm_90", 24 + number % 64, 0, 0, 0.21),
            new Kernel("reduce_kernel", "sm_90", 40, 16_384, number % 5 == 0 ? 8 : 0, 0.34));
    if (device.kind().equals("cuda")) draft.timed(0.6 + number % 9 * 0.25);
    return draft.build(device);
  }

  static Draft failed(String task, int sample, Status status, Stage stage) {
    return new Draft(task, sample, status, stage);
  }

  /** A verdict being made up. */
  static final class Draft {
    private final String task;
    private final int sample;
    private final Status status;
    private final Stage stage;
    private String source;
    private @Nullable String message;
    private @Nullable String rule;
    private @Nullable String evidence;
    private @Nullable String output;
    private @Nullable List<Mismatch> mismatches;
    private @Nullable Map<String, Double> errors;
    private @Nullable List<Frame> frames;
    private @Nullable List<Kernel> kernels;
    private @Nullable Speedup speedup;
    private @Nullable List<SizeTiming> sizes;
    private @Nullable List<Baseline> baselines;
    private @Nullable Profile profile;
    private final Map<String, Double> seconds = new LinkedHashMap<>();
    private List<String> flags = List.of();

    private Draft(String task, int sample, Status status, Stage stage) {
      this.task = task;
      this.sample = sample;
      this.status = status;
      this.stage = stage;
      this.source = "examples/broken/" + status.label() + ".py";
      seconds.put("static", 0.003);
      if (stage.compareTo(Stage.CALL) >= 0) {
        seconds.put("compile", 0.55);
        seconds.put("call", 0.18);
      }
    }

    Draft message(String text) {
      message = text;
      return this;
    }

    Draft rule(String id) {
      rule = id;
      return this;
    }

    Draft evidence(String name) {
      evidence = name;
      return this;
    }

    Draft flags(String... names) {
      flags = List.of(names);
      return this;
    }

    Draft output(String text) {
      output = text;
      return this;
    }

    Draft frames(int line) {
      frames =
          List.of(
              new Frame(18, "gelu", "gelu_kernel[(triton.cdiv(n, 1024),)](input, output)"),
              new Frame(line, "gelu_kernel", null));
      return this;
    }

    Draft mismatches() {
      mismatches =
          List.of(
              new Mismatch("output[0]", List.of(16L, 38L), "-0.1586552560", "0"),
              new Mismatch("output[0]", List.of(16L, 39L), "0.8413447142", "0"),
              new Mismatch("output[0]", List.of(16L, 40L), "1.9544997215", "nan"));
      errors = Map.of("max_abs", 1.9545, "max_rel", 1.0, "error_ratio", 48_211.0);
      return this;
    }

    /** Eager alone; for slow candidates what compiling gains, and that tuning failed. */
    private static List<Baseline> baselines(double factor) {
      Baseline eager = against("eager", factor, null);
      Instant measured = Instant.parse("2026-11-19T21:14:05Z");
      return factor > 0.9
          ? List.of(eager)
          : List.of(
              eager,
              against("compile", factor / 1.25, measured),
              new Baseline(
                  "max-autotune", null, null, null, null, null, "it is wrong", null, null));
    }

    /** Of slow candidates; of very fast ones it is missing. */
    private static @Nullable Profile profile(double factor) {
      if (factor > 2) return Profile.failed("ncu (exit code 1): " + HOSTILE);
      return factor > 0.9
          ? null
          : new Profile(
              "(3072, 4096) float32",
              List.of(
                  new Profile.Kernel(
                      "gelu_kernel", 1, 0.0482, 32, 88.75, 100.0, 91.25, 12.5, "wait", 61.0),
                  new Profile.Kernel(HOSTILE, 3, 0.002, null, null, null, null, null, null, null)),
              null);
    }

    private static Baseline against(String name, double factor, @Nullable Instant measured) {
      List<Double> ms = List.of(0.021 * factor, 0.042 * factor, 0.063 * factor);
      return new Baseline(
          name, factor, factor * 0.98, factor * 1.02, ms, measured, null, null, null);
    }

    private void timed(double factor) {
      speedup = new Speedup(factor, factor * 0.98, factor * 1.02, "eager");
      baselines = baselines(factor);
      profile = profile(factor);
      sizes =
          IntStream.rangeClosed(1, 3)
              .mapToObj(i ->
                  new SizeTiming(
                      "(%d, 4096) float32".formatted(1024 * i),
                      0.021 * i,
                      0.021 * i * factor,
                      factor,
                      factor * 0.97,
                      factor * 1.03,
                      1_830.0 + i,
                      null,
                      0.47,
                      null,
                      24,
                      null,
                      Bound.MEMORY,
                      0.0099 * i,
                      0.61,
                      new Clocks(1_980.0, 2_619.0, 46.0, 371.2),
                      i == 3 ? List.of("sw_power_cap") : List.of(),
                      i == 1 ? new Launched(0.033, 0.061, 0.061 / 0.033, 1.8, 1.9) : null,
                      i == 2 ? true : null,
                      50_331_648L * i,
                      i == 3 ? null : 16_777_216L * i,
                      null,
                      null))
              .toList();
      seconds.put("perf", 1.9);
    }

    Verdict build(Device device) {
      boolean judged = status.blame() != Status.Blame.KBX;
      boolean called = stage.compareTo(Stage.CORRECT) >= 0;
      boolean correct = status == Status.CORRECT;
      boolean gpu = device.kind().equals("cuda");
      Kernel first = kernels == null ? null : kernels.getFirst();
      return new Verdict(
          new Provenance(
              "20261121T063501-kqzp",
              "%064x".formatted((task + sample + source).hashCode() & 0xffffffffL),
              source,
              "kernelbenchx",
              task.substring(task.indexOf('/') + 1),
              task.substring(0, task.indexOf('/')),
              sample,
              null,
              null,
              null,
              Map.of(),
              null),
          new Judgement(
              status,
              stage,
              judged ? called : null,
              (judged && called) ? correct || stage == Stage.PERF : null,
              (gpu && (correct || stage == Stage.PERF)) ? correct : null,
              null,
              null,
              null,
              null,
              null,
              null,
              null,
              null,
              null,
              message,
              rule,
              evidence,
              null,
              status == Status.CHEATING ? List.of("nondeterministic") : flags,
              speedup,
              sizes,
              baselines,
              profile,
              first == null
                  ? null
                  : new Compile("sm_90", first.registers(), 16_384, first.spills()),
              kernels,
              mismatches,
              errors,
              null,
              null,
              null,
              frames,
              output,
              device,
              VERSIONS,
              seconds));
    }
  }
}

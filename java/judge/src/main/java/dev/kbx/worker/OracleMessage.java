package dev.kbx.worker;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonTypeName;
import dev.kbx.worker.PeakRates.Precision;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Messages between referee and oracle; mirrors {@code worker/kbx/messages/oracle.py}. In order:
 * about a task, a candidate's calls, its benchmark sizes, the device.
 */
public sealed interface OracleMessage extends Message.Numbered {
  /**
   * Referee to oracle: trace the shapes of a task's calls; needs no {@link Open}.
   *
   * @param dtype what a module is cast to; null if it is not
   */
  @JsonTypeName("trace_shapes")
  record TraceShapes(int id, String task, boolean timed, @Nullable String dtype)
      implements OracleMessage {}

  /**
   * Every distinct call, without values.
   *
   * @param numbers of the calls that a user's reference asks for, those that are judged
   * @param upstream the entry's first parameters where it is the gradients of a user's function:
   *     those of its results
   */
  @JsonTypeName("shapes_traced")
  record ShapesTraced(
      int id,
      List<String> entries,
      JsonNode calls,
      Message.@Nullable Module module,
      List<String> updates,
      List<Integer> numbers,
      List<String> upstream)
      implements OracleMessage {}

  /**
   * Referee to oracle: trace the shapes of a call of the largest benchmark size.
   *
   * @param dtype what a module is cast to; null if it is not
   */
  @JsonTypeName("trace_largest_shapes")
  record TraceLargestShapes(int id, String task, @Nullable String dtype) implements OracleMessage {}

  /**
   * One call, without values.
   *
   * @param shape the size in words
   */
  @JsonTypeName("largest_shapes_traced")
  record LargestShapesTraced(int id, List<String> entries, String shape, JsonNode call)
      implements OracleMessage {}

  /** Referee to oracle: estimate the memory of a task's calls on a GPU. */
  @JsonTypeName("estimate_memory")
  record EstimateMemory(int id, String task) implements OracleMessage {}

  /**
   * Bytes; all 0 for a task with small cases.
   *
   * @param lent arguments in their arena
   * @param returned a result in its arena
   * @param weights a module's weights and buffers
   * @param device peak use of device memory while judging
   */
  @JsonTypeName("memory_estimated")
  record MemoryEstimated(int id, long lent, long returned, long weights, long device)
      implements OracleMessage {}

  /** Referee to oracle: run a task's controls. */
  @JsonTypeName("verify_task")
  record VerifyTask(int id, String task, String seed, boolean alone, @Nullable String dtype)
      implements OracleMessage {}

  @JsonTypeName("task_verified")
  record TaskVerified(int id, List<Control> controls, double seconds) implements OracleMessage {}

  /** One control: an honest result that must pass, or a spoiled one that must fail. */
  record Control(
      String name,
      Kind kind,
      boolean ok,
      @Nullable String status,
      @Nullable String detail,
      @Nullable Integer line) {
    public Control {
      requireNonNull(kind);
    }

    /** Expected outcome. */
    public enum Kind {
      /** Pass. */
      POSITIVE,
      /** Fail. */
      NEGATIVE
    }
  }

  /**
   * Referee to oracle: load a task and make arenas for one runner, large ones if sizes are timed.
   *
   * @param lent minimum bytes of the argument arena
   * @param returned minimum bytes of the result arena
   * @param alone whether the candidate has the device exclusively
   * @param published whether to compare by the tolerances that the suite's authors publish
   * @param dtype what a module is cast to; null if it is not
   * @param schemes as in the last {@link Checked} about an earlier process of the candidate
   * @param memoryChecks whether what launches do to memory decides, where they are executed
   * @param operations of PyTorch that the reference calls
   * @param properties that candidates are asked for by name
   * @param expert the runner of an expert's kernel, which gets arenas of its own; null: there is
   *     none
   * @param kernels as in {@link RunnerMessage.Rebuilt}
   */
  @JsonTypeName("open")
  record Open(
      int id,
      String task,
      String seed,
      @Nullable Integer runner,
      boolean timed,
      long lent,
      long returned,
      boolean alone,
      boolean published,
      @Nullable String dtype,
      List<Integer> schemes,
      boolean memoryChecks,
      List<String> operations,
      List<String> properties,
      @Nullable Integer expert,
      Map<String, String> kernels)
      implements OracleMessage {}

  /**
   * The calls to judge.
   *
   * @param module constructor arguments if the entry is a class; else null
   * @param scaled whether the calls are smaller than the published sizes
   * @param constant whether all calls have the same values
   * @param core processor core from which both sides launch timed calls; null: any
   * @param expertArenas of the expert's runner; null if there is none
   */
  @JsonTypeName("opened")
  record Opened(
      int id,
      List<String> entries,
      JsonNode arenas,
      List<PlannedCall> calls,
      List<Size> sizes,
      double seconds,
      Message.@Nullable Module module,
      boolean scaled,
      boolean constant,
      @Nullable Integer core,
      @Nullable JsonNode expertArenas)
      implements OracleMessage {
    /** The same for the expert's runner. */
    public Opened forExpert() {
      return new Opened(
          id,
          entries,
          requireNonNull(expertArenas),
          calls,
          sizes,
          seconds,
          module,
          scaled,
          constant,
          core,
          null);
    }
  }

  /**
   * One call of the correctness stage.
   *
   * @param parameters the task's case in words: {@code shape=(37,), approximate='tanh'}
   * @param distribution distribution of its values
   * @param repeats index of the call whose inputs it repeats
   * @param properties what it asks for beyond what the published tests do, sorted; empty for a call
   *     of the published grade
   * @param dtype what module and arguments are cast to for this call; null if they are not
   */
  record PlannedCall(
      int index,
      @JsonProperty("case") String parameters,
      String distribution,
      @Nullable Integer repeats,
      List<String> properties,
      @Nullable String dtype) {
    /** Asks for calls of benchmark sizes, and marks them. */
    public static final String SIZED = "benchmark_size";

    /** Properties that the oracle plans calls for and that decide nothing. */
    private static final Set<String> SHOWN =
        Set.of("batch_invariant", "large_index", "repeatable", "graph_safe", "stream_safe");

    public PlannedCall {
      properties = List.copyOf(properties);
    }

    /**
     * Whether it has NaN or infinities, or is made for a property that serving needs: what a
     * candidate does there is reported and decides nothing.
     */
    public boolean special() {
      return properties.contains("special_values") || properties.stream().anyMatch(SHOWN::contains);
    }

    /** Whether it has the shapes of the published calls, and other weights or values with signs. */
    public boolean hasOtherContents() {
      return otherWeights() || properties.contains("normal_values");
    }

    /** Whether it is made after the weights of reference and candidate have changed. */
    public boolean otherWeights() {
      return properties.contains("other_weights");
    }

    /** Whether it has a benchmark size; it is not timed. */
    public boolean sized() {
      return properties.contains(SIZED);
    }

    /** Whether its arguments have more than 2^31 elements once their rows are repeated. */
    public boolean large() {
      return properties.contains("large_index");
    }

    /** This call, made to look at a property. */
    public PlannedCall asking(String property) {
      return new PlannedCall(index, parameters, distribution, repeats, List.of(property), dtype);
    }

    /** Equal for calls with the same inputs. */
    public int inputs() {
      return repeats == null ? index : repeats;
    }

    /** Whether it asks for no more than the published tests do. */
    public boolean published() {
      return properties.isEmpty();
    }
  }

  /**
   * One benchmark size, in words.
   *
   * @param weight part of the reference's time that it stands for, 0 to 1; null if the task states
   *     none
   */
  record Size(int index, String shape, @Nullable Double weight) {}

  /** Referee to oracle: fill arena {@code in} for a call, poison arena {@code out}. */
  @JsonTypeName("prepare")
  record Prepare(int id, int call) implements OracleMessage {}

  @JsonTypeName("prepared")
  record Prepared(int id, JsonNode args, JsonNode kwargs, boolean idle) implements OracleMessage {}

  /** Referee to oracle: compare the result that the runner left in the arenas. */
  @JsonTypeName("check")
  record Check(int id, int call, JsonNode value) implements OracleMessage {}

  /**
   * Referee to oracle: name the first submodule that differs, by what the runner answered to a call
   * with {@code parts}.
   */
  @JsonTypeName("locate")
  record Locate(int id, int call, JsonNode value) implements OracleMessage {}

  @JsonTypeName("located")
  record Located(int id, @Nullable String part) implements OracleMessage {}

  /**
   * What became of the result.
   *
   * @param published whether a call's result is right by the published rule alone; false of timed
   *     calls
   * @param schemes positions of the schemes by which all results of the candidate were right so
   *     far; empty if the task has no choice of schemes
   * @param elsewhere what shows that a right result was not computed by the operations and launches
   *     of the candidate; null if nothing does
   * @param account who computed it when the call was made again without the candidate; null if it
   *     was not
   * @param digest hash of the result's bits; null unless {@code repeatable} is asked for
   */
  @JsonTypeName("checked")
  record Checked(
      int id,
      Status status,
      @Nullable String message,
      List<Mismatch> mismatches,
      Map<String, Double> metrics,
      List<String> flags,
      boolean published,
      List<Integer> schemes,
      @Nullable String elsewhere,
      RunnerMessage.@Nullable Origin account,
      @Nullable String digest)
      implements OracleMessage {
    public Checked {
      requireNonNull(status);
    }

    /** Whether the result is right. */
    public boolean correct() {
      return status == Status.CORRECT;
    }

    /** Result of a comparison: one of the verdict's statuses. */
    public enum Status {
      CORRECT,
      WRONG_STRUCTURE,
      WRONG_SHAPE,
      WRONG_DTYPE,
      WRONG_DEVICE,
      WRONG_VALUES,
      OUT_OF_BOUNDS,
      RACE,
      ORDER_DEPENDENT,
      UNDEFINED_VALUE,
      NONDETERMINISTIC,
      INPUT_MUTATED,
      /** An assertion or an alignment failed, where launches are executed without a GPU. */
      RUNTIME_ERROR
    }
  }

  /** One wrong element. */
  record Mismatch(String output, List<Long> index, String expected, String got) {}

  /** Referee to oracle: change the reference's weights, for calls that ask for others. */
  @JsonTypeName("change_weights")
  record ChangeWeights(int id) implements OracleMessage {}

  /**
   * The reference's weights were changed.
   *
   * @param parameters shapes by name
   */
  @JsonTypeName("weights_changed")
  record WeightsChanged(int id, Map<String, List<Long>> parameters) implements OracleMessage {
    public WeightsChanged {
      parameters = Map.copyOf(parameters);
    }
  }

  /**
   * Referee to oracle: make fresh sets of one benchmark size, out of every runner's reach.
   *
   * @param round number within the phase, from 0
   */
  @JsonTypeName("prepare_size")
  record PrepareSize(int id, int size, int sets, Phase phase, int round) implements OracleMessage {
    /** Purpose of a round. No input is used twice, across all phases. */
    public enum Phase {
      /** The reference, before any code of the candidate is loaded. */
      ALONE,
      /** Both sides, launched from Python. */
      LAUNCHED,
      /** Both sides, while being recorded as CUDA graphs. */
      RECORDING,
      /** Both sides as CUDA graphs. */
      REPLAYED,
      /** The reference beside the candidate once more, immediately after it was slow. */
      SLOW,
      /** The state a while later. */
      STILL_SLOW,
      /** The reference, after the candidate's process is gone. */
      ALONE_AGAIN,
      /** The reference's CUDA graphs, after the candidate's process is gone. */
      GRAPHS_ALONE
    }
  }

  /**
   * The sets are made.
   *
   * @param bytes that the reference reads of its arguments and writes, each counted once
   * @param flops floating-point operations of its products; null if they are not all of its work
   * @param precision precision of those products
   * @param leastBytes bytes that every correct kernel must move
   * @param leastFlops flops that every correct kernel must compute
   * @param uncounted operations with much work that these figures do not include
   * @param resultBytes bytes that the runner copies after each call, outside its time
   * @param copied whether the reference's results are copied as well
   */
  @JsonTypeName("prepared_size")
  record PreparedSize(
      int id,
      long flushBytes,
      @Nullable Long bytes,
      @Nullable Long flops,
      @Nullable Precision precision,
      @Nullable Long leastBytes,
      @Nullable Long leastFlops,
      List<String> uncounted,
      @Nullable Long resultBytes,
      boolean copied)
      implements OracleMessage {
    public PreparedSize {
      uncounted = List.copyOf(uncounted);
    }

    /** Whether {@code bytes} and {@code flops} include all substantial work. */
    public boolean counted() {
      return bytes != null && uncounted.isEmpty();
    }
  }

  /**
   * Referee to oracle: now copy the sets last prepared to arena {@code in}.
   *
   * @param expert whether to that of the expert's runner
   */
  @JsonTypeName("lend_size")
  record LendSize(int id, boolean expert) implements OracleMessage {}

  @JsonTypeName("lent_size")
  record LentSize(int id, JsonNode calls) implements OracleMessage {}

  /**
   * Referee to oracle: time the reference on the sets last prepared.
   *
   * @param lead as in {@link RunnerMessage.Measure}, like {@code warm}
   * @param graph whether CUDA graphs of the calls are timed
   */
  @JsonTypeName("baseline")
  record Baseline(int id, int lead, boolean warm, boolean graph) implements OracleMessage {}

  /**
   * The reference's times.
   *
   * @param state of the device right after
   * @param stateSeconds time for reading the state
   * @param unrecorded why there are no graphs of the reference, and so no times
   * @param hostBound calls that the device may have waited for, since the host had not finished
   *     launching them
   * @param peakBytes the most that a call held of the device's memory, its result included, beyond
   *     what was held before
   */
  @JsonTypeName("baseline_measured")
  record BaselineMeasured(
      int id,
      List<Double> deviceMs,
      double seconds,
      DeviceState state,
      double stateSeconds,
      @Nullable String unrecorded,
      int hostBound,
      @Nullable Long peakBytes)
      implements OracleMessage {
    public BaselineMeasured {
      requireNonNull(state);
    }
  }

  /**
   * State of a GPU at one moment, as reported by its driver; null if not reported.
   *
   * @param throttle throttle reasons
   */
  record DeviceState(
      @Nullable Double smMhz,
      @Nullable Double memoryMhz,
      @Nullable Double celsius,
      @Nullable Double watts,
      @Nullable List<String> throttle) {
    /** Throttling beyond what load explains: heat, or a failing power supply. */
    private static final Set<String> SLOWDOWNS =
        Set.of("hw_slowdown", "hw_thermal", "sw_thermal", "power_brake");

    public DeviceState {
      throttle = throttle == null ? null : List.copyOf(throttle);
    }

    /**
     * Whether the device is throttled so that times mean little; not by a power cap, which is
     * normal under matrix load.
     */
    public boolean slowed() {
      return throttle != null && throttle.stream().anyMatch(SLOWDOWNS::contains);
    }
  }

  /**
   * Referee to oracle: compare the results of these timed calls.
   *
   * @param expert whether they are the expert's
   */
  @JsonTypeName("check_size")
  record CheckSize(int id, List<Integer> slots, List<JsonNode> values, boolean expert)
      implements OracleMessage {}

  /** Referee to oracle: free the candidate's arenas and compiled code. */
  @JsonTypeName("close")
  record Close(int id) implements OracleMessage {}

  @JsonTypeName("closed")
  record Closed(int id) implements OracleMessage {}

  /**
   * Referee to the oracle of baselines: compile a task's reference for one benchmark size.
   *
   * @param kind {@code compile} or {@code max-autotune}
   * @param dtype what a module is cast to; null if it is not
   */
  @JsonTypeName("compile_baseline")
  record CompileBaseline(
      int id, String task, String seed, int size, String kind, @Nullable String dtype)
      implements OracleMessage {}

  /** With {@code failure} null the compiled reference is right and can be timed. */
  @JsonTypeName("baseline_compiled")
  record BaselineCompiled(int id, double seconds, @Nullable String failure)
      implements OracleMessage {}

  /** Referee to the oracle of baselines: time eager and compiled on fresh sets. */
  @JsonTypeName("compare_baseline")
  record CompareBaseline(int id, int sets, int round, int lead, boolean warm)
      implements OracleMessage {}

  @JsonTypeName("baseline_compared")
  record BaselineCompared(
      int id,
      List<Double> eagerMs,
      List<Double> compiledMs,
      double seconds,
      @Nullable DeviceState state)
      implements OracleMessage {}

  /** Referee to oracle: probe whether the device still works. */
  @JsonTypeName("probe")
  record Probe(int id) implements OracleMessage {}

  @JsonTypeName("probed")
  record Probed(int id, double seconds) implements OracleMessage {}

  /**
   * Referee to oracle: measure this device's peaks.
   *
   * @param glance whether a few float32 products suffice
   */
  @JsonTypeName("measure_peaks")
  record MeasurePeaks(int id, boolean glance) implements OracleMessage {}

  /**
   * The measured peaks.
   *
   * @param state of the device right after
   */
  @JsonTypeName("peaks")
  record Peaks(int id, PeakRates rates, DeviceState state) implements OracleMessage {
    public Peaks {
      requireNonNull(rates);
      requireNonNull(state);
    }
  }
}

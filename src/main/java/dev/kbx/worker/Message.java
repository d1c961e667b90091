package dev.kbx.worker;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Every message of the protocol, mirroring {@code worker/kbx/messages.py}; {@code docs/protocol.md}
 * says who sends what.
 *
 * <p>Requests carry an {@code id} that the reply repeats. Times are seconds, sizes are bytes. Value
 * trees (arguments and results) are passed on unread: they are the oracle's business.
 *
 * <p>What a runner sends refuses to be made without its parts, so that an answer with a hole in it
 * is unreadable and not a surprise later on.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = Message.Hello.class, name = "hello"),
  @JsonSubTypes.Type(value = Message.Failed.class, name = "failed"),
  @JsonSubTypes.Type(value = Message.Spawn.class, name = "spawn"),
  @JsonSubTypes.Type(value = Message.Spawned.class, name = "spawned"),
  @JsonSubTypes.Type(value = Message.Kill.class, name = "kill"),
  @JsonSubTypes.Type(value = Message.Exited.class, name = "exited"),
  @JsonSubTypes.Type(value = Message.Attach.class, name = "attach"),
  @JsonSubTypes.Type(value = Message.Attached.class, name = "attached"),
  @JsonSubTypes.Type(value = Message.Load.class, name = "load"),
  @JsonSubTypes.Type(value = Message.Loaded.class, name = "loaded"),
  @JsonSubTypes.Type(value = Message.Construct.class, name = "construct"),
  @JsonSubTypes.Type(value = Message.Constructed.class, name = "constructed"),
  @JsonSubTypes.Type(value = Message.TakeState.class, name = "take_state"),
  @JsonSubTypes.Type(value = Message.StateTaken.class, name = "state_taken"),
  @JsonSubTypes.Type(value = Message.Restate.class, name = "restate"),
  @JsonSubTypes.Type(value = Message.Restated.class, name = "restated"),
  @JsonSubTypes.Type(value = Message.Precompile.class, name = "precompile"),
  @JsonSubTypes.Type(value = Message.Precompiled.class, name = "precompiled"),
  @JsonSubTypes.Type(value = Message.Call.class, name = "call"),
  @JsonSubTypes.Type(value = Message.Returned.class, name = "returned"),
  @JsonSubTypes.Type(value = Message.Raised.class, name = "raised"),
  @JsonSubTypes.Type(value = Message.Measure.class, name = "measure"),
  @JsonSubTypes.Type(value = Message.RecordCalls.class, name = "record_calls"),
  @JsonSubTypes.Type(value = Message.CallsRecorded.class, name = "calls_recorded"),
  @JsonSubTypes.Type(value = Message.ReplayCalls.class, name = "replay_calls"),
  @JsonSubTypes.Type(value = Message.Measured.class, name = "measured"),
  @JsonSubTypes.Type(value = Message.Profile.class, name = "profile"),
  @JsonSubTypes.Type(value = Message.Profiled.class, name = "profiled"),
  @JsonSubTypes.Type(value = Message.Outline.class, name = "outline"),
  @JsonSubTypes.Type(value = Message.Outlined.class, name = "outlined"),
  @JsonSubTypes.Type(value = Message.OutlineLargest.class, name = "outline_largest"),
  @JsonSubTypes.Type(value = Message.OutlinedLargest.class, name = "outlined_largest"),
  @JsonSubTypes.Type(value = Message.Weigh.class, name = "weigh"),
  @JsonSubTypes.Type(value = Message.Weighed.class, name = "weighed"),
  @JsonSubTypes.Type(value = Message.Open.class, name = "open"),
  @JsonSubTypes.Type(value = Message.Opened.class, name = "opened"),
  @JsonSubTypes.Type(value = Message.Prepare.class, name = "prepare"),
  @JsonSubTypes.Type(value = Message.Prepared.class, name = "prepared"),
  @JsonSubTypes.Type(value = Message.Check.class, name = "check"),
  @JsonSubTypes.Type(value = Message.Checked.class, name = "checked"),
  @JsonSubTypes.Type(value = Message.PrepareSize.class, name = "prepare_size"),
  @JsonSubTypes.Type(value = Message.PreparedSize.class, name = "prepared_size"),
  @JsonSubTypes.Type(value = Message.LendSize.class, name = "lend_size"),
  @JsonSubTypes.Type(value = Message.LentSize.class, name = "lent_size"),
  @JsonSubTypes.Type(value = Message.Baseline.class, name = "baseline"),
  @JsonSubTypes.Type(value = Message.BaselineMeasured.class, name = "baseline_measured"),
  @JsonSubTypes.Type(value = Message.CompileBaseline.class, name = "compile_baseline"),
  @JsonSubTypes.Type(value = Message.BaselineCompiled.class, name = "baseline_compiled"),
  @JsonSubTypes.Type(value = Message.CompareBaseline.class, name = "compare_baseline"),
  @JsonSubTypes.Type(value = Message.BaselineCompared.class, name = "baseline_compared"),
  @JsonSubTypes.Type(value = Message.CheckSize.class, name = "check_size"),
  @JsonSubTypes.Type(value = Message.Close.class, name = "close"),
  @JsonSubTypes.Type(value = Message.Closed.class, name = "closed"),
  @JsonSubTypes.Type(value = Message.VerifyTask.class, name = "verify_task"),
  @JsonSubTypes.Type(value = Message.TaskVerified.class, name = "task_verified"),
  @JsonSubTypes.Type(value = Message.Probe.class, name = "probe"),
  @JsonSubTypes.Type(value = Message.Probed.class, name = "probed"),
  @JsonSubTypes.Type(value = Message.MeasurePeaks.class, name = "measure_peaks"),
  @JsonSubTypes.Type(value = Message.Peaks.class, name = "peaks"),
})
@JsonInclude(JsonInclude.Include.NON_NULL)
public sealed interface Message {

  /** Version of the protocol; a worker that says another is refused. */
  int PROTOCOL = 1;

  /** A message that asks, or answers the request of the same id. */
  sealed interface Numbered extends Message {
    int id();
  }

  /** First frame of oracle and zygote, unasked. */
  record Hello(
      int protocol,
      String role,
      long pid,
      Map<String, String> versions,
      @Nullable Map<String, JsonNode> device,
      @Nullable String dataAddress,
      @Nullable String lacks)
      implements Message {
    /**
     * The GPU's own name, which unlike its index means the same to every process; null elsewhere.
     */
    public @Nullable String deviceUuid() {
      return said("uuid");
    }

    /** The GPU driver's version; null elsewhere. */
    public @Nullable String deviceDriver() {
      return said("driver");
    }

    /** The GPU's memory in bytes; null elsewhere. */
    public @Nullable Long deviceBytes() {
      return bytes("memory_bytes");
    }

    /** Memory of the machine that the GPU is in, as far as workers may have it; null elsewhere. */
    public @Nullable Long hostBytes() {
      return bytes("host_bytes");
    }

    private @Nullable Long bytes(String key) {
      JsonNode value = device == null ? null : device.get(key);
      return value == null || !value.isNumber() ? null : value.asLong();
    }

    private @Nullable String said(String key) {
      JsonNode value = device == null ? null : device.get(key);
      return value == null || value.isNull() ? null : value.asString();
    }
  }

  /** A trusted process could not serve a request. */
  record Failed(
      int id, String reason, String message, @Nullable String file, @Nullable Integer line)
      implements Numbered {}

  /**
   * Referee to zygote: fork a sandboxed runner on channel {@code runner}.
   *
   * @param timed whether its calls will be timed
   * @param loopback whether it may connect to itself
   */
  record Spawn(
      int id,
      int runner,
      String device,
      int deviceIndex,
      @Nullable String deviceUuid,
      String arch,
      @Nullable String dataAddress,
      @Nullable Integer uid,
      long memoryBytes,
      int cpuSeconds,
      int processes,
      long fileBytes,
      boolean timed,
      boolean loopback)
      implements Numbered {}

  /** The runner listens. */
  record Spawned(int id, int runner, double seconds, List<Protection> protections)
      implements Numbered {}

  /** One protection around a runner, and whether it holds on this machine. */
  record Protection(String name, boolean active, @Nullable String detail) {}

  /** Referee to zygote: end a runner and everything it started; {@link Exited} follows. */
  record Kill(int runner) implements Message {}

  /** A runner's tree is gone. */
  record Exited(
      int runner,
      String reason,
      @Nullable Integer code,
      @Nullable Integer signal,
      @Nullable Long peakBytes,
      @Nullable String detail,
      @Nullable String output)
      implements Message {}

  /** Referee to runner: map the arenas; with none, only be ready to. */
  record Attach(int id, JsonNode arenas) implements Numbered {}

  record Attached(int id, double seconds) implements Numbered {}

  /**
   * Referee to runner: import this source and find one of the entries.
   *
   * @param operations PyTorch functions that the task's reference calls
   * @param files what {@link Precompiled} brought from another runner of the same source
   * @param timed whether the candidate has the device alone, so that its own clocks count
   * @param cpp whether its own C++ may compute the result, as its Triton kernels may
   * @param core as in {@link Opened}
   */
  record Load(
      int id,
      String source,
      List<String> entries,
      List<String> operations,
      Map<String, String> files,
      boolean timed,
      boolean cpp,
      @Nullable Integer core)
      implements Numbered {}

  /**
   * What a class that stands in for a task's model is constructed with.
   *
   * @param init its constructor's arguments
   * @param seed of its weights
   */
  record Module(List<JsonNode> init, long seed) {
    public Module {
      init = List.copyOf(init);
    }
  }

  record Loaded(int id, String entry, double seconds) implements Numbered {}

  /**
   * Referee to runner: the entry is a class; calls from now on are those of its instance.
   *
   * @param shapes whether its weights need no values, only shapes
   */
  record Construct(int id, Module module, boolean shapes) implements Numbered {}

  /** There is an instance. */
  record Constructed(int id, double seconds) implements Numbered {}

  /**
   * Referee to runner: give the instance other weights.
   *
   * @param parameters as in {@link Restated}
   */
  record TakeState(int id, Map<String, List<Long>> parameters) implements Numbered {
    public TakeState {
      parameters = Map.copyOf(parameters);
    }
  }

  /** A runner's word on whether it has such parameters and changed them. */
  record StateTaken(int id, boolean taken, double seconds) implements Numbered {}

  /**
   * Referee to runner: compile what the entry launches on these arguments, and run none of it.
   *
   * @param seconds after which no further call is begun
   */
  record Precompile(int id, JsonNode calls, double seconds) implements Numbered {}

  /**
   * What the runner compiled: of use to other runners of the same source, and to nobody else.
   *
   * @param files of Triton's cache and libraries made of C++, by path
   * @param whole whether every call was made in the time given
   * @param leftOut {@code triton}, {@code libraries}: what of these is too large to be sent
   */
  record Precompiled(
      int id,
      Map<String, String> files,
      int kernels,
      boolean whole,
      double seconds,
      List<String> leftOut)
      implements Numbered {
    public Precompiled {
      files = Map.copyOf(files);
      leftOut = List.copyOf(leftOut);
    }
  }

  /** Referee to runner: call the entry once. */
  record Call(int id, JsonNode args, JsonNode kwargs) implements Numbered {}

  /** The entry returned; the result lies in arena {@code out}. */
  record Returned(
      int id,
      JsonNode value,
      double seconds,
      int launches,
      List<Compiled> compiled,
      @Nullable Origin origin)
      implements Numbered {
    public Returned {
      requireNonNull(value);
      compiled = List.copyOf(compiled);
    }
  }

  /**
   * The runner's account of who made a call's results: a claim.
   *
   * @param elements of the results
   * @param own how many of them the candidate's kernels wrote
   * @param volume elements of arguments and results
   * @param foreign elements that others than its kernels read and wrote on the way to the results
   */
  record Origin(long elements, double own, long volume, long foreign, List<Operation> operations) {
    public Origin {
      operations = List.copyOf(operations);
      if (!(elements >= 0 && own >= 0 && own <= elements * (1 + 1e-6))
          || volume < elements
          || foreign < 0
          || foreign > volume) {
        throw new IllegalArgumentException("an account that does not add up");
      }
    }
  }

  /** What others computed: a function, the candidate's line (0: unknown), elements. */
  record Operation(String name, int line, long elements) {
    private static final int MAX_NAME = 200;

    public Operation {
      requireNonNull(name);
      if (elements < 0) throw new IllegalArgumentException("a negative number of elements");
      if (name.length() > MAX_NAME) name = name.substring(0, MAX_NAME);
    }
  }

  /** One launch signature, compiled inside the runner: a claim, not a finding. */
  record Compiled(
      String kernel,
      String arch,
      @Nullable Integer registers,
      @Nullable Integer sharedBytes,
      @Nullable Integer spills,
      @Nullable Double seconds) {
    public Compiled {
      requireNonNull(kernel);
      requireNonNull(arch);
    }
  }

  /** Loading or calling failed in the runner. */
  record Raised(
      int id,
      String kind,
      String exception,
      String message,
      List<Frame> frames,
      @Nullable String feature,
      @Nullable List<Compiled> compiled)
      implements Numbered {
    public Raised {
      requireNonNull(kind);
      requireNonNull(exception);
      requireNonNull(message);
      frames = List.copyOf(frames);
      compiled = compiled == null ? null : List.copyOf(compiled);
    }
  }

  /** A frame of the candidate's own code. */
  record Frame(int line, String function, @Nullable String text) {
    public Frame {
      requireNonNull(function);
    }
  }

  /**
   * Referee to runner: time the entry on these argument sets.
   *
   * @param flushBytes written before each call, so that the L2 cache is cold
   * @param lead how many times, so that the host can launch the call meanwhile; with 0 the device
   *     waits for the host
   * @param warm whether arguments are read right before each call
   */
  record Measure(int id, JsonNode calls, long flushBytes, int lead, boolean warm)
      implements Numbered {}

  /** Referee to runner: record the entry on these argument sets, each as a CUDA graph. */
  record RecordCalls(int id, JsonNode calls) implements Numbered {}

  /**
   * There are graphs to replay.
   *
   * @param origins the runner's account of each call that was recorded; null where it has none
   */
  record CallsRecorded(int id, double seconds, List<@Nullable Origin> origins) implements Numbered {
    public CallsRecorded {
      origins = Collections.unmodifiableList(new ArrayList<>(origins));
    }
  }

  /** Referee to runner: time the graphs last recorded; the answer is {@link Measured}. */
  record ReplayCalls(int id, long flushBytes, int lead, boolean warm) implements Numbered {}

  /**
   * The runner's own account of a batch; the referee holds a clock of its own.
   *
   * @param hostBound as in {@link BaselineMeasured}
   */
  record Measured(
      int id,
      List<Double> deviceMs,
      List<JsonNode> values,
      double seconds,
      @Nullable Integer hostBound)
      implements Numbered {
    public Measured {
      deviceMs = List.copyOf(deviceMs);
      values = List.copyOf(values);
    }
  }

  /**
   * Referee to runner: call the entry once under Nsight Compute, in a process of its own.
   *
   * @param call as in {@link OutlinedLargest}
   * @param seconds after which Nsight Compute is ended
   */
  record Profile(
      int id,
      String source,
      List<String> entries,
      Map<String, String> files,
      JsonNode call,
      double seconds)
      implements Numbered {}

  /**
   * The runner's figures, or why it has none: claims.
   *
   * @param kernels those that took most time, first
   */
  record Profiled(
      int id, double seconds, @Nullable List<ProfiledKernel> kernels, @Nullable String failure)
      implements Numbered {
    public Profiled {
      kernels = kernels == null ? null : List.copyOf(kernels);
    }
  }

  /** One kernel by name, with the figures of its longest launch; null what is not known. */
  record ProfiledKernel(
      String kernel,
      @Nullable Integer launches,
      @Nullable Double durationMs,
      @Nullable Integer registers,
      @Nullable Double achievedOccupancyPct,
      @Nullable Double theoreticalOccupancyPct,
      @Nullable Double dramPct,
      @Nullable Double smPct,
      @Nullable String stall,
      @Nullable Double stallPct) {
    public ProfiledKernel {
      requireNonNull(kernel);
    }
  }

  /** Referee to oracle: what the calls of a task look like; needs no {@link Open}. */
  record Outline(int id, String task, boolean timed) implements Numbered {}

  /** Every distinct call, values apart. */
  record Outlined(int id, List<String> entries, JsonNode calls, @Nullable Module module)
      implements Numbered {}

  /** Referee to oracle: what a call of the largest benchmark size looks like. */
  record OutlineLargest(int id, String task) implements Numbered {}

  /**
   * One call, values apart.
   *
   * @param shape the size in words
   */
  record OutlinedLargest(int id, List<String> entries, String shape, JsonNode call)
      implements Numbered {}

  /** Referee to oracle: how large a task's calls are on a GPU. */
  record Weigh(int id, String task) implements Numbered {}

  /**
   * Bytes; all 0 for a task whose cases are small.
   *
   * @param lent arguments in their arena
   * @param returned a result in its arena
   * @param weights what a module holds once it is constructed
   * @param device what judging takes of the device when it takes most
   */
  record Weighed(int id, long lent, long returned, long weights, long device) implements Numbered {}

  /**
   * Referee to oracle: load a task and make arenas for one runner, large ones if sizes are timed.
   *
   * @param lent bytes that the arena of arguments holds at least
   * @param returned bytes that the arena of results holds at least
   * @param alone whether nobody else uses the device
   * @param published whether values are compared by the tolerances that the suite's authors publish
   */
  record Open(
      int id,
      String task,
      String seed,
      @Nullable Integer runner,
      boolean timed,
      long lent,
      long returned,
      boolean alone,
      boolean published)
      implements Numbered {}

  /**
   * The calls to judge.
   *
   * @param module the entry is a class, and this is what it is constructed with
   * @param scaled whether the calls are smaller than what the task is about; null: no
   * @param core the processor from which both sides launch what is timed; null: any
   */
  record Opened(
      int id,
      List<String> entries,
      JsonNode arenas,
      List<PlannedCall> calls,
      List<Size> sizes,
      double seconds,
      @Nullable Module module,
      @Nullable Boolean scaled,
      @Nullable Integer core)
      implements Numbered {}

  /**
   * One call of the correctness stage.
   *
   * @param parameters the task's case in words: {@code shape=(37,), approximate='tanh'}
   * @param distribution where its values are drawn from
   * @param repeats index of the call whose inputs it repeats
   */
  record PlannedCall(
      int index,
      @JsonProperty("case") String parameters,
      String distribution,
      @Nullable Integer repeats) {}

  /** One benchmark size, in words. */
  record Size(int index, String shape) {}

  /** Referee to oracle: fill arena {@code in} for a call, poison arena {@code out}. */
  record Prepare(int id, int call) implements Numbered {}

  record Prepared(int id, JsonNode args, JsonNode kwargs) implements Numbered {}

  /** Referee to oracle: compare what the runner left behind. */
  record Check(int id, int call, JsonNode value) implements Numbered {}

  record Checked(
      int id,
      String status,
      @Nullable String message,
      List<Mismatch> mismatches,
      Map<String, Double> metrics,
      List<String> flags)
      implements Numbered {}

  /** One wrong element. */
  record Mismatch(String output, List<Long> index, String expected, String got) {}

  /** Referee to oracle: make fresh sets of one benchmark size, out of every runner's reach. */
  record PrepareSize(int id, int size, int sets, int round) implements Numbered {}

  /**
   * The sets are made.
   *
   * @param bytes that the reference reads of its arguments and writes, each counted once
   * @param flops floating-point operations of its products; null where they are not all of its work
   * @param precision {@code fp64, fp32, tf32, fp16, bf16} or {@code int8}, what those run in
   * @param leastBytes what every correct kernel must move
   * @param leastFlops what every correct kernel must compute
   * @param uncounted operations whose work is large and in none of these figures
   * @param resultBytes what the runner copies after each call, outside of its time
   * @param copied whether the reference's results are copied as well
   */
  record PreparedSize(
      int id,
      long flushBytes,
      @Nullable Long bytes,
      @Nullable Long flops,
      @Nullable String precision,
      @Nullable Long leastBytes,
      @Nullable Long leastFlops,
      @Nullable List<String> uncounted,
      @Nullable Long resultBytes,
      @Nullable Boolean copied)
      implements Numbered {
    public PreparedSize {
      uncounted = uncounted == null ? null : List.copyOf(uncounted);
    }

    /** Whether all that takes much time is in {@code bytes} and {@code flops}. */
    public boolean counted() {
      return bytes != null && (uncounted == null || uncounted.isEmpty());
    }
  }

  /** Referee to oracle: now copy the sets last prepared to arena {@code in}. */
  record LendSize(int id) implements Numbered {}

  record LentSize(int id, JsonNode calls) implements Numbered {}

  /**
   * Referee to oracle: time the reference on the sets last prepared.
   *
   * @param lead as in {@link Measure}, like {@code warm}
   * @param graph whether CUDA graphs of the calls are timed
   */
  record Baseline(int id, int lead, boolean warm, boolean graph) implements Numbered {}

  /**
   * The reference's times.
   *
   * @param state of the device right after
   * @param stateSeconds what reading the state took
   * @param unrecorded why there are no graphs of the reference, and so no times
   * @param hostBound calls that the device may have waited for, since the host was not done with
   *     launching them
   */
  record BaselineMeasured(
      int id,
      List<Double> deviceMs,
      double seconds,
      @Nullable DeviceState state,
      @Nullable Double stateSeconds,
      @Nullable String unrecorded,
      @Nullable Integer hostBound)
      implements Numbered {}

  /**
   * A GPU at one moment, as its driver says; null what it does not say.
   *
   * @param throttle names of what holds its clocks down
   */
  record DeviceState(
      @Nullable Double smMhz,
      @Nullable Double memoryMhz,
      @Nullable Double celsius,
      @Nullable Double watts,
      @Nullable List<String> throttle) {
    /** What slows a device beyond what its load explains: heat, or a supply that gives way. */
    private static final Set<String> SLOWDOWNS =
        Set.of("hw_slowdown", "hw_thermal", "sw_thermal", "power_brake");

    public DeviceState {
      throttle = throttle == null ? null : List.copyOf(throttle);
    }

    /** Whether times taken now say little: a power cap is normal under matrix load and no such. */
    public boolean slowed() {
      return throttle != null && throttle.stream().anyMatch(SLOWDOWNS::contains);
    }
  }

  /**
   * Referee to an oracle of baselines: compile a task's reference for one benchmark size.
   *
   * @param kind {@code compile} or {@code max-autotune}
   */
  record CompileBaseline(int id, String task, String seed, int size, String kind)
      implements Numbered {}

  /** Null {@code failure}: what was compiled is right and can be timed. */
  record BaselineCompiled(int id, double seconds, @Nullable String failure) implements Numbered {}

  /** Referee to an oracle of baselines: time eager and compiled on fresh sets. */
  record CompareBaseline(int id, int sets, int round, int lead, boolean warm) implements Numbered {}

  record BaselineCompared(
      int id,
      List<Double> eagerMs,
      List<Double> compiledMs,
      double seconds,
      @Nullable DeviceState state)
      implements Numbered {}

  /** Referee to oracle: give the reference other weights. */
  record Restate(int id) implements Numbered {}

  /**
   * The reference has other weights.
   *
   * @param call index of the call that is judged by them
   * @param parameters shapes by name
   */
  record Restated(int id, int call, Map<String, List<Long>> parameters) implements Numbered {
    public Restated {
      parameters = Map.copyOf(parameters);
    }
  }

  /** Referee to oracle: compare the results of these timed calls. */
  record CheckSize(int id, List<Integer> slots, List<JsonNode> values) implements Numbered {}

  /** Referee to oracle: drop the candidate's arenas, and what was compiled. */
  record Close(int id) implements Numbered {}

  record Closed(int id) implements Numbered {}

  /** Referee to oracle: run a task's controls. */
  record VerifyTask(int id, String task, String seed, boolean alone) implements Numbered {}

  record TaskVerified(int id, List<Control> controls, double seconds) implements Numbered {}

  /** One control: an honest result that must pass, or a spoiled one that must fail. */
  record Control(
      String name,
      String kind,
      boolean ok,
      @Nullable String status,
      @Nullable String detail,
      @Nullable Integer line) {}

  /** Referee to oracle: see whether the device still works. */
  record Probe(int id) implements Numbered {}

  record Probed(int id, double seconds) implements Numbered {}

  /**
   * Referee to oracle: measure this device's peaks.
   *
   * @param glance whether a few products in float32 will do
   */
  record MeasurePeaks(int id, boolean glance) implements Numbered {}

  /**
   * What was measured.
   *
   * @param state of the device right after
   */
  record Peaks(int id, Map<String, Double> figures, @Nullable DeviceState state)
      implements Numbered {}
}

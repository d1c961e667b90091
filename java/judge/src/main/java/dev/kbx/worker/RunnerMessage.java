package dev.kbx.worker;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonTypeName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Messages between referee and runner; mirrors {@code worker/kbx/messages/runner.py}.
 *
 * <p>Constructors of a runner's messages reject missing parts, so an incomplete answer counts as
 * unreadable.
 */
public sealed interface RunnerMessage extends Message.Numbered {
  /** Referee to runner: map the arenas; without arenas, only prepare for it. */
  @JsonTypeName("attach")
  record Attach(int id, JsonNode arenas) implements RunnerMessage {}

  @JsonTypeName("attached")
  record Attached(int id, double seconds) implements RunnerMessage {}

  /**
   * Referee to runner: import this source and find one of the entries.
   *
   * @param operations PyTorch functions that the task's reference calls
   * @param files binaries in {@link Precompiled} from another runner of the same source
   * @param timed whether the candidate has the device exclusively, so that its own clocks count
   * @param cpp whether its own C++ may compute the result, as Triton kernels may
   * @param core as in {@link OracleMessage.Opened}
   * @param memoryChecks whether to look for kernels that leave their tensors, on a GPU
   */
  @JsonTypeName("load")
  record Load(
      int id,
      String source,
      List<String> entries,
      List<String> operations,
      Map<String, String> files,
      boolean timed,
      boolean cpp,
      @Nullable Integer core,
      boolean memoryChecks)
      implements RunnerMessage {}

  @JsonTypeName("loaded")
  record Loaded(int id, String entry, double seconds) implements RunnerMessage {}

  /**
   * Referee to runner: the entry is a class; later calls are those of its instance.
   *
   * @param shapes whether its weights have only shapes, no values
   */
  @JsonTypeName("construct")
  record Construct(int id, Message.Module module, boolean shapes) implements RunnerMessage {}

  /** The instance was constructed. */
  @JsonTypeName("constructed")
  record Constructed(int id, double seconds) implements RunnerMessage {}

  /**
   * Referee to runner: change the instance's weights.
   *
   * @param parameters as in {@link OracleMessage.WeightsChanged}
   */
  @JsonTypeName("take_state")
  record TakeState(int id, Map<String, List<Long>> parameters) implements RunnerMessage {
    public TakeState {
      parameters = Map.copyOf(parameters);
    }
  }

  /** The runner's claim whether it has these parameters and changed them. */
  @JsonTypeName("state_taken")
  record StateTaken(int id, boolean taken, double seconds) implements RunnerMessage {}

  /**
   * Referee to runner: compile what the entry launches on these arguments, without running it.
   *
   * @param seconds after which no further call is begun
   */
  @JsonTypeName("precompile")
  record Precompile(int id, JsonNode calls, double seconds) implements RunnerMessage {}

  /**
   * Compiled binaries, for other runners of the same source only.
   *
   * @param files of Triton's cache and libraries made of C++, by path
   * @param whole whether every call was made in the given time
   * @param leftOut {@code triton}, {@code libraries}: which of these are too large to send
   * @param requests for {@link Rebuild}, of some of the kernels
   */
  @JsonTypeName("precompiled")
  record Precompiled(
      int id,
      Map<String, String> files,
      int kernels,
      boolean whole,
      double seconds,
      List<String> leftOut,
      List<String> requests)
      implements RunnerMessage {
    public Precompiled {
      files = Map.copyOf(files);
      leftOut = List.copyOf(leftOut);
      requests = List.copyOf(requests);
    }
  }

  /**
   * Referee to runner: compile kernels from descriptions of them. The runner has not loaded the
   * candidate and never will.
   *
   * @param seconds after which no kernel is waited for
   */
  @JsonTypeName("rebuild")
  record Rebuild(int id, String source, List<String> requests, double seconds)
      implements RunnerMessage {}

  /**
   * Compiled kernels.
   *
   * @param kernels as JSON, by what a recorder knows them by; none of those that do not compile
   */
  @JsonTypeName("rebuilt")
  record Rebuilt(int id, Map<String, String> kernels, double seconds) implements RunnerMessage {
    public Rebuilt {
      kernels = Map.copyOf(kernels);
    }
  }

  /**
   * Referee to runner: call the entry once.
   *
   * @param tuning without a GPU, calls with the same number take the same configurations of
   *     autotuners, and one with a new number takes some that have not run yet; negative for an
   *     earlier call that is made again; null: the first
   * @param parts whether the result is samples of what submodules return
   * @param under what the call is made under, on a GPU but for large arguments; null: nothing
   */
  @JsonTypeName("call")
  record Call(
      int id,
      JsonNode args,
      JsonNode kwargs,
      @Nullable Integer tuning,
      boolean parts,
      @Nullable Under under)
      implements RunnerMessage {
    /** A call under nothing. */
    public Call(int id, JsonNode args, JsonNode kwargs, @Nullable Integer tuning, boolean parts) {
      this(id, args, kwargs, tuning, parts, null);
    }

    /** Conditions of serving. */
    public enum Under {
      /** A stream of its own, on which its arguments become what they are. */
      STREAM,
      /** A CUDA graph is recorded of it, and not run. */
      CAPTURE,
      /** The graph last recorded runs on its arguments. */
      REPLAY,
      /** Arguments that are marked have more than 2^31 elements. */
      LARGE
    }
  }

  /**
   * The entry returned; the result lies in arena {@code out}.
   *
   * @param ran PyTorch's operations that computed in this call; null unless the runner is timed
   * @param configurations without a GPU, what autotuned kernels ran with in this call, in words
   * @param untried null on a GPU, and where every configuration has run
   * @param unguarded on a GPU, what of this call could leave its tensors unnoticed, in words
   */
  @JsonTypeName("returned")
  record Returned(
      int id,
      JsonNode value,
      double seconds,
      int launches,
      List<Compiled> compiled,
      @Nullable Origin origin,
      @Nullable List<String> ran,
      List<String> configurations,
      @Nullable Untried untried,
      List<String> unguarded)
      implements RunnerMessage {
    private static final int MAX_CONFIGURATIONS = 8;
    private static final int MAX_CHARACTERS = 200;

    public Returned {
      requireNonNull(value);
      compiled = List.copyOf(compiled);
      ran = ran == null ? null : List.copyOf(ran);
      configurations =
          configurations.stream().limit(MAX_CONFIGURATIONS).map(Returned::shortened).toList();
      unguarded = unguarded.stream().limit(MAX_CONFIGURATIONS).map(Returned::shortened).toList();
    }

    private static String shortened(String text) {
      return text.length() > MAX_CHARACTERS ? text.substring(0, MAX_CHARACTERS) : text;
    }
  }

  /**
   * Configurations of autotuners that have not run: a claim.
   *
   * @param tuning calls like those with this number, made with another one, run some of them
   * @param configurations how many there are in all
   */
  record Untried(int tuning, int configurations) {}

  /**
   * The runner's account of who computed a call's results: a claim.
   *
   * @param elements of the results
   * @param own how many of them the candidate's kernels wrote
   * @param volume elements of arguments and results
   * @param foreign elements that other operations read and wrote on the way to the results
   * @param launches of the candidate's kernels
   * @param copies launches after which a tensor equals another one that PyTorch computed
   * @param used whether a result, or Python, got anything that those kernels wrote
   */
  record Origin(
      long elements,
      double own,
      long volume,
      long foreign,
      List<Operation> operations,
      long launches,
      long copies,
      boolean used) {
    public Origin {
      operations = List.copyOf(operations);
      if (!(elements >= 0 && own >= 0 && own <= elements * (1 + 1e-6))
          || volume < elements
          || foreign < 0
          || foreign > volume
          || copies < 0
          || copies > launches) {
        throw new IllegalArgumentException("invalid account of who computed: shares out of range");
      }
    }
  }

  /** Another operation's share: function, line in the candidate (0: unknown), elements. */
  record Operation(String name, int line, long elements) {
    private static final int MAX_NAME = 200;

    public Operation {
      requireNonNull(name);
      if (elements < 0) throw new IllegalArgumentException("a negative number of elements");
      if (name.length() > MAX_NAME) name = name.substring(0, MAX_NAME);
    }
  }

  /** One launch signature, compiled inside the runner: a claim. */
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
  @JsonTypeName("raised")
  record Raised(
      int id,
      Kind kind,
      String exception,
      String message,
      List<Frame> frames,
      @Nullable String feature,
      List<Compiled> compiled)
      implements RunnerMessage {
    public Raised {
      requireNonNull(kind);
      requireNonNull(exception);
      requireNonNull(message);
      frames = List.copyOf(frames);
      compiled = List.copyOf(compiled);
    }

    /** Kind of failure. */
    public enum Kind {
      SYNTAX,
      IMPORT,
      /** Nothing in the source has the entry's name. */
      NO_ENTRY,
      /** A kernel launch, or C++, does not compile. */
      COMPILE,
      /** Any other exception, and kinds that the protocol does not know. */
      @JsonEnumDefaultValue
      RUNTIME,
      MEMORY,
      /** A kernel left its tensors, and a guard page, or the driver, told. */
      OUT_OF_BOUNDS,
      /** The machine lacks a feature that the candidate needs. */
      UNSUPPORTED,
      /** The candidate tried to end the process. */
      EXIT
    }
  }

  /** A frame of the candidate's own code. */
  record Frame(int line, String function, String text) {
    public Frame {
      requireNonNull(function);
      requireNonNull(text);
    }
  }

  /**
   * Referee to runner: time the entry on these argument sets.
   *
   * @param lead number of flushes, so that the host can launch the call meanwhile; with 0 the
   *     device waits for the host waits for the host
   * @param warm whether arguments are read right before each call
   */
  @JsonTypeName("measure")
  record Measure(int id, JsonNode calls, long flushBytes, int lead, boolean warm)
      implements RunnerMessage {}

  /** Referee to runner: record the entry on these argument sets, each as a CUDA graph. */
  @JsonTypeName("record_calls")
  record RecordCalls(int id, JsonNode calls) implements RunnerMessage {}

  /**
   * The graphs were recorded.
   *
   * @param origins account of each recorded call; null if there is none
   */
  @JsonTypeName("calls_recorded")
  record CallsRecorded(int id, double seconds, List<@Nullable Origin> origins)
      implements RunnerMessage {
    public CallsRecorded {
      origins = Collections.unmodifiableList(new ArrayList<>(origins));
    }
  }

  /** Referee to runner: time the graphs last recorded; the answer is {@link Measured}. */
  @JsonTypeName("replay_calls")
  record ReplayCalls(int id, long flushBytes, int lead, boolean warm) implements RunnerMessage {}

  /**
   * The runner's times of a batch: claims, which the referee checks by its own clock.
   *
   * @param hostBound as in {@link OracleMessage.BaselineMeasured}
   * @param peakBytes as in {@link OracleMessage.BaselineMeasured}
   * @param ran for each call, PyTorch's operations that computed in it; null if unknown
   */
  @JsonTypeName("measured")
  record Measured(
      int id,
      List<Double> deviceMs,
      List<JsonNode> values,
      double seconds,
      int hostBound,
      @Nullable Long peakBytes,
      @Nullable List<List<String>> ran)
      implements RunnerMessage {
    public Measured {
      deviceMs = List.copyOf(deviceMs);
      ran = ran == null ? null : ran.stream().map(List::copyOf).toList();
      values = List.copyOf(values);
    }
  }

  /**
   * Referee to runner: call the entry once under Nsight Compute, in a process of its own.
   *
   * @param call as in {@link OracleMessage.LargestShapesTraced}
   * @param seconds after which Nsight Compute is ended
   */
  @JsonTypeName("profile")
  record Profile(
      int id,
      String source,
      List<String> entries,
      Map<String, String> files,
      JsonNode call,
      double seconds)
      implements RunnerMessage {}

  /**
   * The profile, or why there is none: claims.
   *
   * @param kernels by total time, longest first
   */
  @JsonTypeName("profiled")
  record Profiled(
      int id, double seconds, @Nullable List<ProfiledKernel> kernels, @Nullable String failure)
      implements RunnerMessage {
    public Profiled {
      kernels = kernels == null ? null : List.copyOf(kernels);
    }
  }

  /** A kernel by name, with the figures of its longest launch; null if unknown. */
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
}

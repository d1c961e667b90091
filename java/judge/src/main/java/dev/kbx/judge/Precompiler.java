package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.DeviceDescription;
import dev.kbx.device.OraclePool;
import dev.kbx.device.Slot;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import dev.kbx.worker.WorkerFailure;
import dev.kbx.worker.Zygote;
import dev.kbx.worker.ZygoteMessage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * The compile stage: a runner without a GPU compiles the candidate's kernel launches and C++ on the
 * CPU, while other candidates use the GPU. No kernel runs; large tensors have shapes but no values.
 *
 * <p>It only saves time: whatever fails here is tried again, and counts, in a runner with the GPU.
 * One exception: C++ that exceeds the limits on time, memory or size is decided here, since a
 * runner with a GPU could not compile it either. C++ that could not be compiled for other reasons
 * is not sent to one.
 */
final class Precompiler {
  private static final JsonNode NO_CALLS = JsonNodeFactory.instance.arrayNode();

  /**
   * No further call is begun after this time. An autotuner's hundred configurations take a minute
   * on a few cores; the GPU does other work meanwhile, and only this candidate waits.
   */
  private static final Duration BUDGET = Duration.ofSeconds(60);

  /** Additional time for the current call, and for packing the binaries. */
  private static final Duration FINISHING = Duration.ofSeconds(20);

  /** Compiling C++ with PyTorch's headers takes a minute, or several on a busy machine. */
  private static final Duration CPP_LIMIT = Duration.ofMinutes(10);

  /** Two files at a time, each of which takes up to 2 GiB of memory. */
  private static final Zygote.Allowance CPP_ALLOWANCE =
      new Zygote.Allowance(6L << 30, 600, 256, 1L << 30);

  /** Folder of libraries made from C++, and of files that say why there is none. */
  private static final String LIBRARIES = "libraries/";

  /**
   * A limit like those on time and memory. The runner reports it about its own candidate, so it
   * must count against the candidate.
   */
  private static final Outcome TOO_LARGE =
      Outcome.of(
          Status.COMPILE_ERROR,
          Stage.COMPILE,
          "its C++ compiles, to libraries of more than 3 MiB when compressed, which is the limit:"
              + " they are sent to the runner that calls them; compile less, or without debug"
              + " symbols");

  private final Slot slot;
  private final @Nullable String gpuElsewhere;
  private final BinaryCache binaries;
  private final Plan plan;
  private final JudgementBuilder draft;
  private final Map<String, String> versions;

  /** Compiles for the slot's own device. */
  Precompiler(
      JudgingSlot judgingSlot, Plan plan, JudgementBuilder draft, Map<String, String> versions) {
    this(judgingSlot, null, plan, draft, versions);
  }

  /**
   * @param gpuElsewhere architecture of another machine's GPU to compile for; null to compile for
   *     the slot's own device
   */
  Precompiler(
      JudgingSlot judgingSlot,
      @Nullable String gpuElsewhere,
      Plan plan,
      JudgementBuilder draft,
      Map<String, String> versions) {
    this.slot = judgingSlot.slot();
    this.gpuElsewhere = gpuElsewhere;
    this.binaries = judgingSlot.binaries();
    this.plan = plan;
    this.draft = draft;
    this.versions = versions;
  }

  /**
   * The result of compiling.
   *
   * @param failure C++ that exceeded a limit
   */
  record Compiled(Ahead ahead, Optional<Outcome> failure) {
    static final Compiled NOTHING = new Compiled(Ahead.NOTHING, Optional.empty());

    static Compiled of(Ahead ahead) {
      return new Compiled(ahead, Optional.empty());
    }

    static Compiled failed(Outcome outcome) {
      return new Compiled(Ahead.NOTHING, Optional.of(outcome));
    }
  }

  /**
   * What a runner compiled.
   *
   * @param whole whether every call was made, and all that was compiled fits a message
   * @param tooLarge whether it has libraries that are too large to send
   * @param requests for kernels that are compiled once more without the candidate
   */
  private record Made(
      Map<String, String> files, boolean whole, boolean tooLarge, List<String> requests) {
    static final Made NOTHING = new Made(Map.of(), true, false, List.of());

    /** Whether C++ was compiled, or failed to compile. */
    boolean hasCpp() {
      return tooLarge || files.keySet().stream().anyMatch(name -> name.startsWith(LIBRARIES));
    }

    /**
     * Whether compilation is finished. A source with only C++ is then not called: the call may end
     * a process without a GPU, and would be compiled again in every run.
     */
    boolean ends(boolean onlyCpp) {
      return tooLarge || (onlyCpp && hasCpp());
    }

    /**
     * These binaries for a candidate that stopped itself: another try with C++ would not get
     * further.
     */
    Made stopped() {
      return new Made(files, hasCpp(), tooLarge, requests);
    }

    /** These binaries for compilation that may be incomplete. */
    Made unfinished() {
      return new Made(files, false, tooLarge, requests);
    }
  }

  /** Throws {@link WorkerFailure} if C++ could not be compiled but another try may succeed. */
  Compiled compile(Candidate candidate) throws InterruptedException {
    long start = System.nanoTime();
    boolean cpp = candidate.bringsCpp();
    try {
      BinaryCache.Key key = key(candidate);
      Ahead known = binaries.read(key);
      if (!known.hasNoFiles()) return Compiled.of(known);
      Made made = compile(candidate, traceShapes(candidate), cpp);
      if (cpp && made.tooLarge()) return Compiled.failed(TOO_LARGE);
      Optional<Map<String, String>> kernels = rebuilt(candidate, made.requests());
      Ahead ahead = new Ahead(made.files(), kernels.orElse(Map.of()));
      if (made.whole() && kernels.isPresent()) binaries.write(key, ahead);
      return Compiled.of(ahead);
    } catch (TimeoutException e) {
      return cpp
          ? Compiled.failed(Outcome.timeout(Stage.COMPILE, "compiling its C++", CPP_LIMIT))
          : Compiled.NOTHING;
    } catch (Runner.Lost e) {
      return cpp && e.how().reason() == ZygoteMessage.Exited.Reason.MEMORY
          ? Compiled.failed(Outcome.lost(e, Stage.COMPILE))
          : Compiled.NOTHING;
    } catch (Oracle.Refused e) {
      return Compiled.NOTHING; // Errors in the task are reported when it is opened.
    } catch (WorkerFailure e) {
      if (cpp) throw e;
      return Compiled.NOTHING;
    } finally {
      draft.spent(Stage.COMPILE, (System.nanoTime() - start) / 1e9);
    }
  }

  /** Compiles for another machine to {@link #keep}; empty unless all was compiled and cached. */
  Optional<Binaries> binaries(Candidate candidate) throws InterruptedException {
    var _ = compile(candidate);
    BinaryCache.Key key = key(candidate);
    Ahead known = binaries.read(key);
    return known.hasNoFiles() ? Optional.empty() : Optional.of(new Binaries(key.name(), known));
  }

  /** Caches what another machine compiled, unless that would not be found here. */
  void keep(Binaries compiled, Candidate candidate) throws InterruptedException {
    BinaryCache.Key key = key(candidate);
    if (key.name().equals(compiled.key())) binaries.write(key, compiled.compiled());
  }

  private BinaryCache.Key key(Candidate candidate) throws InterruptedException {
    return BinaryCache.Key.of(candidate, plan.precision(), arch(), timed(), versions);
  }

  private Made compile(Candidate candidate, OracleMessage.ShapesTraced task, boolean cpp)
      throws InterruptedException, TimeoutException, Runner.Lost {
    Duration limit = cpp ? CPP_LIMIT : plan.limits().load();
    try (Runner runner = spawn(cpp, task.module() != null)) {
      runner.attach();
      boolean loaded = loaded(runner, candidate, task, limit);
      // Saved now, since it may be lost in the next step. Errors of C++ are sent, too.
      Made made = cpp ? precompiled(runner, NO_CALLS, BUDGET, Made.NOTHING) : Made.NOTHING;
      boolean onlyCpp = !candidate.code().contains("triton");
      if (!loaded || made.ends(onlyCpp)) return made.stopped();
      Message.Module module = task.module();
      if (module != null) {
        try {
          boolean constructed = constructed(runner, module, limit);
          if (cpp) made = precompiled(runner, NO_CALLS, BUDGET, made);
          if (!constructed || made.ends(onlyCpp)) return made.stopped();
        } catch (TimeoutException | Runner.Lost e) {
          if (made.hasCpp()) return made.unfinished();
          throw e;
        }
      }
      return called(runner, task, cpp && !made.hasCpp() ? CPP_LIMIT : BUDGET, made);
    }
  }

  private static boolean loaded(
      Runner runner, Candidate candidate, OracleMessage.ShapesTraced task, Duration limit)
      throws InterruptedException, TimeoutException, Runner.Lost {
    return runner.ask(
            RunnerMessage.Loaded.class,
            id ->
                new RunnerMessage.Load(
                    id,
                    candidate.code(),
                    task.entries(),
                    candidate.task().operations(),
                    Map.of(),
                    false,
                    candidate.task().takesCpp(),
                    null,
                    false),
            limit)
        instanceof RunnerMessage.Loaded;
  }

  private static boolean constructed(Runner runner, Message.Module module, Duration limit)
      throws InterruptedException, TimeoutException, Runner.Lost {
    return runner.ask(
            RunnerMessage.Constructed.class,
            id -> new RunnerMessage.Construct(id, module, true),
            limit)
        instanceof RunnerMessage.Constructed;
  }

  /**
   * Compiles what the calls need: Triton kernels, and C++ that was not compiled {@code before}.
   * Other work of a call may be impossible on a CPU.
   */
  private static Made called(
      Runner runner, OracleMessage.ShapesTraced task, Duration budget, Made before)
      throws InterruptedException {
    try {
      return precompiled(runner, task.calls(), budget, before);
    } catch (TimeoutException | Runner.Lost e) {
      return before.unfinished();
    }
  }

  /** Everything compiled so far; {@code before} if the runner does not answer. */
  private static Made precompiled(Runner runner, JsonNode calls, Duration budget, Made before)
      throws InterruptedException, TimeoutException, Runner.Lost {
    Message compiled =
        runner.ask(
            RunnerMessage.Precompiled.class,
            id -> new RunnerMessage.Precompile(id, calls, budget.toSeconds()),
            budget.plus(FINISHING));
    return compiled instanceof RunnerMessage.Precompiled done
        ? new Made(
            done.files(),
            done.whole() && !done.leftOut().contains("triton"),
            done.leftOut().contains("libraries"),
            done.requests())
        : before.unfinished();
  }

  /**
   * Kernels for calls that are made again, compiled in a runner that never has the candidate; empty
   * if that fails. Who makes a call again compiles what it misses.
   */
  private Optional<Map<String, String>> rebuilt(Candidate candidate, List<String> requests)
      throws InterruptedException {
    if (requests.isEmpty() || !forGpu()) return Optional.of(Map.of());
    try (Runner runner = spawn(false, false)) {
      Message answer =
          runner.ask(
              RunnerMessage.Rebuilt.class,
              id -> new RunnerMessage.Rebuild(id, candidate.code(), requests, BUDGET.toSeconds()),
              BUDGET.plus(FINISHING));
      return answer instanceof RunnerMessage.Rebuilt made
          ? Optional.of(made.kernels())
          : Optional.empty();
    } catch (TimeoutException | Runner.Lost | WorkerFailure e) {
      return Optional.empty();
    }
  }

  /** Traces shapes on the CPU with an oracle of the CPU, whose sizes are smaller than a GPU's. */
  private OracleMessage.ShapesTraced traceShapes(Candidate candidate)
      throws InterruptedException, Oracle.Refused {
    String task = candidate.task().file().toAbsolutePath().toString();
    IntFunction<OracleMessage.TraceShapes> request =
        id -> new OracleMessage.TraceShapes(id, task, timed(), plan.precision().dtype());
    if (forGpu()) return slot.askShapeTracer(OracleMessage.ShapesTraced.class, request);
    try (OraclePool.Borrowed borrowed = slot.borrow()) {
      OracleMessage.ShapesTraced traced =
          borrowed.oracle().ask(OracleMessage.ShapesTraced.class, request, Limits.ORACLE);
      borrowed.sound();
      return traced;
    }
  }

  private Runner spawn(boolean cpp, boolean module) throws InterruptedException {
    Zygote.Allowance allowance = cpp ? CPP_ALLOWANCE : plan.limits().allowance();
    return slot.zygote().spawn(slot.device().withoutGpu(), arch(), allowance, module);
  }

  /** Benchmark sizes are needed only on a GPU. */
  private boolean timed() {
    return forGpu() && plan.reaches(Stage.PERF);
  }

  private boolean forGpu() {
    return slot.gpu() != null || gpuElsewhere != null;
  }

  private String arch() throws InterruptedException {
    if (gpuElsewhere != null) return gpuElsewhere;
    if (slot.gpu() == null) return plan.arch();
    String arch = DeviceDescription.of(slot.greeting()).arch();
    if (arch == null) throw new WorkerFailure("a device without an architecture");
    return arch;
  }
}

package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.DeviceDescription;
import dev.kbx.device.OraclePool;
import dev.kbx.device.Slot;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.task.Policy;
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
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * The compile stage, done on the CPU in a runner that has no GPU, while others use it: what the
 * candidate launches is compiled, and its C++, and no kernel runs; of large tensors there are
 * shapes alone.
 *
 * <p>It only saves time. What it cannot compile is compiled where it runs, and what goes wrong here
 * goes wrong there again, where it counts. One thing is decided here: C++ that takes too much time
 * or memory, or becomes too large to be sent. A runner with a GPU would not have either, so C++
 * that could not be compiled here for other reasons is not sent there.
 */
final class Precompiler {
  private static final JsonNode NO_CALLS = JsonNodeFactory.instance.arrayNode();

  /** After this long no further call is begun. */
  private static final Duration BUDGET = Duration.ofSeconds(10);

  /** For the call that is being made then, and for packing what was compiled. */
  private static final Duration FINISHING = Duration.ofSeconds(20);

  /** Compiling C++ with PyTorch's headers takes a minute, or several on a machine that is busy. */
  private static final Duration CPP_LIMIT = Duration.ofMinutes(10);

  /** Two files at a time, each of which takes up to 2 GiB. */
  private static final Zygote.Allowance CPP_ALLOWANCE =
      new Zygote.Allowance(6L << 30, 600, 256, 1L << 30);

  /** Where the files lie that are made of C++, or say why there are none. */
  private static final String LIBRARIES = "libraries/";

  /**
   * A limit like those on time and memory. The runner says so of its own candidate, which must not
   * get out of all rates by it.
   */
  private static final Outcome TOO_LARGE =
      Outcome.of(
          Status.COMPILE_ERROR,
          Stage.COMPILE,
          "its C++ compiles, to libraries of more than 3 MiB when compressed, which is the limit:"
              + " they are sent to the runner that calls them; compile less, or without debug"
              + " symbols");

  private final Slot slot;
  private final BinaryCache binaries;
  private final Plan plan;
  private final JudgementBuilder draft;
  private final Map<String, String> versions;

  Precompiler(Bench bench, Plan plan, JudgementBuilder draft, Map<String, String> versions) {
    this.slot = bench.slot();
    this.binaries = bench.binaries();
    this.plan = plan;
    this.draft = draft;
    this.versions = versions;
  }

  /**
   * What came of it.
   *
   * @param files Triton's cache and libraries; none where nothing could be compiled ahead
   * @param failure of C++ that could not be compiled in reasonable time and memory, or sent
   */
  record Compiled(Map<String, String> files, Optional<Outcome> failure) {
    static final Compiled NOTHING = new Compiled(Map.of(), Optional.empty());

    static Compiled of(Map<String, String> files) {
      return new Compiled(files, Optional.empty());
    }

    static Compiled failed(Outcome outcome) {
      return new Compiled(Map.of(), Optional.of(outcome));
    }
  }

  /**
   * What a runner compiled.
   *
   * @param whole whether it came to every call
   * @param tooLarge whether it has libraries that cannot be sent
   */
  private record Made(Map<String, String> files, boolean whole, boolean tooLarge) {
    static final Made NOTHING = new Made(Map.of(), true, false);

    /** Whether C++ was compiled, or failed to. */
    boolean hasCpp() {
      return tooLarge || files.keySet().stream().anyMatch(name -> name.startsWith(LIBRARIES));
    }

    /**
     * Whether nothing else need be tried. Of a source of C++ alone no call is made then: it may end
     * a process that has no GPU, and would be compiled again in every run.
     */
    boolean ends(boolean onlyCpp) {
      return tooLarge || (onlyCpp && hasCpp());
    }

    /** The same where the candidate itself went no further: with C++ it would not another time. */
    Made stopped() {
      return new Made(files, hasCpp(), tooLarge);
    }

    /** The same where there may have been more. */
    Made unfinished() {
      return new Made(files, false, tooLarge);
    }
  }

  /** Throws {@link WorkerFailure} where C++ could not be compiled and may be at another try. */
  Compiled compile(Candidate candidate) throws InterruptedException {
    long start = System.nanoTime();
    boolean cpp = candidate.bringsCpp();
    try {
      BinaryCache.Key key = BinaryCache.Key.of(candidate, arch(), timed(), versions);
      Map<String, String> files = binaries.read(key);
      if (files.isEmpty()) {
        Made made = compile(candidate, traceShapes(candidate), cpp);
        if (cpp && made.tooLarge()) return Compiled.failed(TOO_LARGE);
        files = made.files();
        if (made.whole()) binaries.write(key, files);
      }
      return Compiled.of(files);
    } catch (TimeoutException e) {
      return cpp
          ? Compiled.failed(Outcome.timeout(Stage.COMPILE, "compiling its C++", CPP_LIMIT))
          : Compiled.NOTHING;
    } catch (Runner.Lost e) {
      return cpp && e.how().reason() == ZygoteMessage.Exited.Reason.MEMORY
          ? Compiled.failed(Outcome.lost(e, Stage.COMPILE))
          : Compiled.NOTHING;
    } catch (Oracle.Refused e) {
      return Compiled.NOTHING; // What is wrong with the task is said when it is opened.
    } catch (WorkerFailure e) {
      if (cpp) throw e;
      return Compiled.NOTHING;
    } finally {
      draft.spent(Stage.COMPILE, (System.nanoTime() - start) / 1e9);
    }
  }

  private Made compile(Candidate candidate, OracleMessage.ShapesTraced task, boolean cpp)
      throws InterruptedException, TimeoutException, Runner.Lost {
    Duration limit = cpp ? CPP_LIMIT : plan.limits().load();
    try (Runner runner = spawn(cpp)) {
      runner.attach();
      boolean loaded = loaded(runner, candidate, task, limit);
      // Before it is lost in what comes next; what is wrong with C++ travels, too.
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
                    Policy.of(candidate.task()).takesCpp(),
                    null),
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
   * What the calls compile: Triton kernels, and C++ that was not compiled {@code before}. A call's
   * other work may be nothing for a CPU.
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

  /** All that it has compiled until now; what it had {@code before} if it does not say. */
  private static Made precompiled(Runner runner, JsonNode calls, Duration budget, Made before)
      throws InterruptedException, TimeoutException, Runner.Lost {
    Message compiled =
        runner.ask(
            RunnerMessage.Precompiled.class,
            id -> new RunnerMessage.Precompile(id, calls, budget.toSeconds()),
            budget.plus(FINISHING));
    return compiled instanceof RunnerMessage.Precompiled done
        ? new Made(done.files(), done.whole(), done.leftOut().contains("libraries"))
        : before.unfinished();
  }

  /** On the CPU by an oracle of the CPU: it judges smaller sizes than a GPU does. */
  private OracleMessage.ShapesTraced traceShapes(Candidate candidate)
      throws InterruptedException, Oracle.Refused {
    String task = candidate.task().file().toAbsolutePath().toString();
    IntFunction<OracleMessage.TraceShapes> request =
        id -> new OracleMessage.TraceShapes(id, task, timed());
    if (slot.gpu() != null) return slot.askShapeTracer(OracleMessage.ShapesTraced.class, request);
    try (OraclePool.Borrowed borrowed = slot.borrow()) {
      OracleMessage.ShapesTraced traced =
          borrowed.oracle().ask(OracleMessage.ShapesTraced.class, request, Limits.ORACLE);
      borrowed.sound();
      return traced;
    }
  }

  private Runner spawn(boolean cpp) throws InterruptedException {
    Zygote.Allowance allowance = cpp ? CPP_ALLOWANCE : plan.limits().allowance();
    return slot.zygote().spawn(slot.device().withoutGpu(), arch(), allowance);
  }

  /** Benchmark sizes are a matter for a GPU. */
  private boolean timed() {
    return slot.gpu() != null && plan.reaches(Stage.PERF);
  }

  private String arch() throws InterruptedException {
    if (slot.gpu() == null) return plan.arch();
    String arch = DeviceDescription.of(slot.greeting()).arch();
    if (arch == null) throw new WorkerFailure("a device without an architecture");
    return arch;
  }
}

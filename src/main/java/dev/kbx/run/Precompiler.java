package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.Runner;
import dev.kbx.worker.WorkerFailure;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/**
 * The compile stage for a GPU, done on the CPU in a runner that has no GPU, while others use it:
 * what the candidate launches is compiled, and no kernel runs.
 *
 * <p>It only saves time. What it cannot compile is compiled where it runs, and what goes wrong here
 * goes wrong there again, where it counts.
 */
final class Precompiler {
  private static final Duration ATTACH = Duration.ofSeconds(30);

  /** After this long no further call is begun. */
  private static final Duration BUDGET = Duration.ofSeconds(10);

  private final Workers.Slot slot;
  private final Plan plan;
  private final Draft draft;

  Precompiler(Workers.Slot slot, Plan plan, Draft draft) {
    this.slot = slot;
    this.plan = plan;
    this.draft = draft;
  }

  /** Files of Triton's cache; none where nothing could be compiled ahead. */
  Map<String, String> compile(Candidate candidate) throws InterruptedException {
    long start = System.nanoTime();
    try {
      Message.Outlined task = outline(candidate);
      return compile(candidate, task);
    } catch (TimeoutException | Runner.Lost | Oracle.Refused | WorkerFailure e) {
      return Map.of();
    } finally {
      draft.spent(Stage.COMPILE, (System.nanoTime() - start) / 1e9);
    }
  }

  private Map<String, String> compile(Candidate candidate, Message.Outlined task)
      throws InterruptedException, TimeoutException, Runner.Lost {
    try (Runner runner = spawn()) {
      runner.ask(Message.Attached.class, id -> new Message.Attach(id, Session.NO_ARENAS), ATTACH);
      Message loaded =
          runner.ask(
              Message.Loaded.class,
              id ->
                  new Message.Load(
                      id,
                      candidate.code(),
                      task.entries(),
                      candidate.task().operations(),
                      Map.of(),
                      false),
              plan.limits().load());
      if (loaded instanceof Message.Raised || !constructed(runner, task)) return Map.of();
      Message compiled =
          runner.ask(
              Message.Precompiled.class,
              id -> new Message.Precompile(id, task.calls(), BUDGET.toSeconds()),
              BUDGET.plus(plan.limits().call()));
      return compiled instanceof Message.Precompiled done ? done.files() : Map.of();
    }
  }

  private boolean constructed(Runner runner, Message.Outlined task)
      throws InterruptedException, TimeoutException, Runner.Lost {
    Message.Module module = task.module();
    return module == null
        || runner.ask(
                Message.Constructed.class,
                id -> new Message.Construct(id, module),
                plan.limits().load())
            instanceof Message.Constructed;
  }

  private Message.Outlined outline(Candidate candidate)
      throws InterruptedException, Oracle.Refused {
    return slot.outliner()
        .ask(
            Message.Outlined.class,
            id ->
                new Message.Outline(
                    id,
                    candidate.task().file().toAbsolutePath().toString(),
                    plan.reaches(Stage.PERF)),
            Session.ORACLE);
  }

  private Runner spawn() throws InterruptedException {
    String arch =
        slot.described()
            .map(Verdict.Device::arch)
            .orElseThrow(() -> new WorkerFailure("a device without an architecture"));
    return slot.zygote().spawn(slot.device().withoutGpu(), arch, plan.limits().allowance());
  }
}

package dev.kbx.judge;

import static java.util.Objects.requireNonNull;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.ConcurrencyLimit;
import dev.kbx.device.DeviceLost;
import dev.kbx.device.Gpu;
import dev.kbx.device.OraclePool;
import dev.kbx.device.SharedExclusiveLock;
import dev.kbx.device.Slot;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Seeds;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.TaskVerdict.Control;
import dev.kbx.verdict.TaskVerdict.Kind;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.WorkerFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Judges tasks by their controls. The functions of a task file run in the oracle; the kernel beside
 * it is judged by {@link Judge}, as a candidate is.
 */
public final class Verification implements TaskReferee {
  /** Flags of kernels that are controls: atomic additions round in any order. */
  private static final Set<String> ALLOWED = Set.of("nondeterministic");

  /** The time to load a task and try its functions. */
  public static final Duration LIMIT = Duration.ofMinutes(5);

  private final LocalReferee referee;
  private final Plan plan;

  /**
   * @param plan how kernels are judged; its secret seeds all controls
   */
  public Verification(LocalReferee referee, Plan plan) {
    this.referee = referee;
    this.plan = plan;
  }

  @Override
  public int capacity() {
    return referee.capacity();
  }

  @Override
  public TaskVerdict verify(Task task) throws InterruptedException {
    return judge(task, this::controls);
  }

  @Override
  public TaskVerdict trace(Task task) throws InterruptedException {
    return judge(task, this::traceShapes);
  }

  /**
   * What tracing a task's calls tells of its reference; empty where the task cannot be used, which
   * {@link #traceShapes} says.
   */
  public Optional<OracleMessage.ShapesTraced> traced(Task task) throws InterruptedException {
    List<OracleMessage.ShapesTraced> found = new ArrayList<>();
    var _ =
        judge(
            task,
            (judgingSlot, one) -> {
              found.add(traced(judgingSlot, one));
              return List.of();
            });
    return found.stream().findFirst();
  }

  /** A way to examine a task. */
  private interface Way {
    List<Control> of(JudgingSlot judgingSlot, Task task)
        throws InterruptedException, Oracle.Refused, IOException;
  }

  private List<Control> traceShapes(JudgingSlot judgingSlot, Task task)
      throws InterruptedException, Oracle.Refused {
    var _ = traced(judgingSlot, task);
    return List.of();
  }

  private OracleMessage.ShapesTraced traced(JudgingSlot judgingSlot, Task task)
      throws InterruptedException, Oracle.Refused {
    String file = task.file().toAbsolutePath().toString();
    try (OraclePool.Borrowed borrowed = judgingSlot.slot().borrow()) {
      try {
        OracleMessage.ShapesTraced traced =
            borrowed
                .oracle()
                .ask(
                    OracleMessage.ShapesTraced.class,
                    id -> new OracleMessage.TraceShapes(id, file, false, plan.precision().dtype()),
                    LIMIT);
        borrowed.sound();
        return traced;
      } catch (Oracle.Refused e) {
        borrowed.sound(); // An unusable file is no failure of the oracle.
        throw e;
      }
    }
  }

  private List<Control> controls(JudgingSlot judgingSlot, Task task)
      throws InterruptedException, Oracle.Refused, IOException {
    List<Control> controls = new ArrayList<>();
    for (OracleMessage.Control control : askOracle(judgingSlot.slot(), task))
      controls.add(control(control));
    for (Path kernel : task.kernels()) controls.add(kernel(judgingSlot, task, kernel));
    return controls;
  }

  private TaskVerdict judge(Task task, Way way) throws InterruptedException {
    while (true) {
      try {
        return referee.on(judgingSlot -> judge(judgingSlot, task, way));
      } catch (DeviceLost e) {
        if (!referee.usable()) throw e;
      }
    }
  }

  private TaskVerdict judge(JudgingSlot judgingSlot, Task task, Way way)
      throws InterruptedException {
    long start = System.nanoTime();
    String key = key(task); // The key of the files as they are now: they may change meanwhile.
    List<Control> controls = List.of();
    String problem = null;
    try {
      controls = way.of(judgingSlot, task);
    } catch (Oracle.Refused e) {
      problem = place(task, e.answer()) + ": " + e.answer().message();
    } catch (WorkerFailure e) {
      Slot slot = judgingSlot.slot();
      if (slot.isLost()) throw new DeviceLost(slot.described().orElse(referee.device()), e);
      problem = task.file() + ": " + e.getMessage();
    } catch (IOException e) {
      problem = "cannot read a kernel: " + e.getMessage();
    }
    return new TaskVerdict(
        task.name(),
        task.suite(),
        task.category(),
        task.file().toString(),
        task.isModule() ? plan.precision().label() : null,
        problem,
        controls,
        (System.nanoTime() - start) / 1e9,
        key);
  }

  private List<OracleMessage.Control> askOracle(Slot slot, Task task)
      throws InterruptedException, Oracle.Refused {
    Gpu gpu = slot.gpu();
    if (gpu == null) return askOracle(slot, task, true);
    try (ConcurrencyLimit.Pass _ = gpu.admit();
        SharedExclusiveLock.Held _ = gpu.lease().shared(gpu.needs(task).part())) {
      return askOracle(slot, task, false);
    } catch (Oracle.Refused e) {
      if (e.answer().reason() != Message.Failed.Reason.MEMORY) throw e;
    }
    try (var _ = gpu.lease().alone()) {
      return askOracle(slot, task, true);
    }
  }

  private List<OracleMessage.Control> askOracle(Slot slot, Task task, boolean alone)
      throws InterruptedException, Oracle.Refused {
    String file = task.file().toAbsolutePath().toString();
    String seed = Seeds.of(plan.secret(), task, "");
    try (OraclePool.Borrowed borrowed = slot.borrow()) {
      OracleMessage.TaskVerified verified =
          borrowed
              .oracle()
              .ask(
                  OracleMessage.TaskVerified.class,
                  id ->
                      new OracleMessage.VerifyTask(id, file, seed, alone, plan.precision().dtype()),
                  LIMIT);
      borrowed.sound();
      return verified.controls();
    }
  }

  private static Control control(OracleMessage.Control said) {
    Kind kind =
        switch (said.kind()) {
          case POSITIVE -> Kind.POSITIVE;
          case NEGATIVE -> Kind.NEGATIVE;
        };
    return new Control(said.name(), kind, said.ok(), said.status(), said.detail(), said.line());
  }

  private Control kernel(JudgingSlot judgingSlot, Task task, Path file)
      throws InterruptedException, IOException {
    String code = Files.readString(file);
    Candidate candidate = new Candidate(task, code, file.toString(), 0, null, null, null);
    Judgement verdict =
        new Judge(judgingSlot, plan, referee.device(), referee.versions()).judge(candidate);
    boolean right = verdict.status() == Status.CORRECT && ALLOWED.containsAll(verdict.flags());
    Path folder = requireNonNull(task.file().getParent());
    String status = verdict.status().label();
    String name = folder.relativize(file).toString();
    return new Control(name, Kind.KERNEL, right, status, detail(verdict, right), null);
  }

  private static @Nullable String detail(Judgement verdict, boolean right) {
    if (right) return "passed all calls";
    if (verdict.status() == Status.CORRECT) {
      return "flagged: " + String.join(", ", verdict.flags());
    }
    return verdict.evidence() == null ? verdict.message() : verdict.evidence();
  }

  private static String place(Task task, Message.Failed why) {
    String where = why.file() == null ? task.file().toString() : why.file();
    return why.line() == null ? where : where + ":" + why.line();
  }

  @Override
  public String key(Task task) {
    return new JudgingConditions(referee.device(), referee.versions()).key(task, plan);
  }
}

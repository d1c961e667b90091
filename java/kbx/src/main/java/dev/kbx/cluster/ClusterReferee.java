package dev.kbx.cluster;

import dev.kbx.candidate.Candidate;
import dev.kbx.judge.JudgingConditions;
import dev.kbx.judge.JudgingReferee;
import dev.kbx.judge.TaskReferee;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Judges on the nodes of a Ray cluster, each with its own local referee. Nodes that join are used
 * from then on; what a node that is gone had is judged by another. Safe for several threads.
 *
 * <p>All devices that judge are of one model, so that speedups can be compared: that of the first
 * slot, or the one that the user names.
 *
 * <p>Has no lock, for nothing changes here: {@link SlotRegister} knows the slots, {@link
 * ClusterDispatcher} has what is judged on them, over a {@link Connection}.
 */
public final class ClusterReferee implements JudgingReferee, AutoCloseable {
  /** Candidates that may be submitted: nodes may join, and slots choose among what waits. */
  private static final int AHEAD = 1024;

  /** For what an attempt takes besides the candidate's own time: references, baselines, waiting. */
  private static final Duration BESIDES = Duration.ofMinutes(10);

  private final Shipment shipment;
  private final SlotRegister register;
  private final ClusterDispatcher dispatcher;

  /**
   * How to judge on a cluster.
   *
   * @param address of the cluster as Ray understands it: {@code auto}, {@code ray://HOST:PORT}
   * @param device {@code auto}, {@code cpu} or {@code cuda}
   * @param jobs candidates at the same time on each slot; 0 for as many as its processors allow
   * @param deviceClass part of the name of the devices to judge on
   * @param slots that are asked of the cluster's autoscaler at most; empty to take the cluster as
   *     it is
   * @param node starts a node's kbx; empty for that of the shipped bundle
   */
  public record Settings(
      String address,
      String device,
      int jobs,
      Optional<String> deviceClass,
      OptionalInt slots,
      List<String> node) {}

  /**
   * Connects to a cluster.
   *
   * @param python with the Ray of the cluster
   * @param home kbx's folder
   * @param notes receives lines for the user
   * @throws ClusterProblem if there is no connection
   */
  public static ClusterReferee connect(
      Path python, Path home, Settings settings, Shipment shipment, Consumer<String> notes)
      throws InterruptedException {
    List<String> node =
        settings.node().isEmpty() ? List.of(shipment.launcher(), "node") : settings.node();
    List<String> arguments = new ArrayList<>(List.of("kbx_bridge"));
    arguments.addAll(List.of("--address", settings.address(), "--device", settings.device()));
    arguments.addAll(List.of("--jobs", Integer.toString(settings.jobs())));
    arguments.addAll(List.of("--command", Codec.text(node)));
    if (settings.slots().isPresent()) arguments.addAll(List.of("--wanted", "1"));
    arguments.addAll(shipment.arguments());
    SlotRegister register =
        new SlotRegister(settings.deviceClass(), settings.slots().isPresent(), notes);
    ClusterDispatcher dispatcher =
        new ClusterDispatcher(
            listener -> BridgeProcess.start(python, home, arguments, listener),
            register,
            settings.slots(),
            notes);
    return new ClusterReferee(shipment, register, dispatcher);
  }

  /**
   * @param register of the dispatcher
   * @param dispatcher is closed with this
   */
  ClusterReferee(Shipment shipment, SlotRegister register, ClusterDispatcher dispatcher) {
    this.shipment = shipment;
    this.register = register;
    this.dispatcher = dispatcher;
  }

  /**
   * The conditions of the first slot, which all others share but for versions; waits for it.
   *
   * @throws ClusterProblem if no node can judge
   */
  public JudgingConditions first() throws InterruptedException {
    return register.first();
  }

  /**
   * A node as far as it is known.
   *
   * @param slots that judge there, or compile, or will
   * @param compiles whether they only compile
   * @param up conditions of those that do now
   * @param used false if it is left alone: notes said why
   */
  public record Node(
      String address,
      int cpus,
      int gpus,
      int slots,
      boolean compiles,
      List<JudgingConditions> up,
      boolean used) {
    public Node {
      up = List.copyOf(up);
    }

    /** Whether nothing more is to come. */
    public boolean complete() {
      return !used || compiles || up.size() == slots;
    }
  }

  /** All living nodes. */
  public List<Node> nodes() {
    return register.nodes();
  }

  /** The cluster in a few words: {@code 2 of 3 nodes, 24 candidates at a time, 1 node compiles}. */
  public String described() {
    return dispatcher.described();
  }

  @Override
  public int capacity() {
    return Math.max(AHEAD, 2 * dispatcher.capacity());
  }

  @Override
  public void expect(Plan plan, int candidates) {
    dispatcher.expect(plan, candidates);
  }

  @Override
  public void settled() {
    dispatcher.settled();
  }

  @Override
  public List<JudgingConditions> conditions() {
    return register.conditions();
  }

  /**
   * The conditions of all slots that there ever were: what one of them judged may be asked for
   * again.
   */
  @Override
  public Set<JudgingConditions> kinds() {
    return register.kinds();
  }

  /** Which GPU of the model judges is chance here. */
  @Override
  public boolean accepts(Verdict.Device gpu) {
    return true;
  }

  @Override
  public Judgement judge(Candidate candidate, Plan plan) throws InterruptedException {
    NodeMessage.SentCandidate sent =
        new NodeMessage.SentCandidate(
            shipment.sent(candidate.task()),
            candidate.code(),
            candidate.origin(),
            candidate.sample(),
            candidate.method(),
            candidate.model(),
            candidate.round(),
            candidate.conditions());
    Job job =
        new Job(
            candidate.task().path(),
            limit(plan.limits()),
            (id, compiled) -> new NodeMessage.Judge(id, sent, plan, compiled),
            mayBringKernels(candidate, plan)
                ? id -> new NodeMessage.Compile(id, sent, plan, register.arch())
                : null);
    try {
      NodeMessage.Answer answer = dispatcher.ask(job);
      dispatcher.settled();
      if (answer instanceof NodeMessage.Judged judged) return judged.judgement();
      throw new ClusterProblem("a node answered something else than a judgement");
    } catch (Job.Abandoned e) {
      return first().givenUp(candidate, plan, String.valueOf(e.getMessage()));
    }
  }

  /** Not C++: a library may need the processor and the C library of the machine that made it. */
  private static boolean mayBringKernels(Candidate candidate, Plan plan) {
    return plan.reaches(Stage.COMPILE)
        && candidate.code().contains("triton")
        && !candidate.bringsCpp();
  }

  /** Examines tasks on the nodes, by this plan. */
  public TaskReferee tasks(Plan plan) throws InterruptedException {
    return new ClusterTasks(this, plan, first().onAnyCard());
  }

  TaskVerdict examine(Task task, Plan plan, boolean controls) throws InterruptedException {
    TaskMessage sent = shipment.sent(task);
    Job job =
        new Job(
            task.path(),
            limit(plan.limits()),
            id -> new NodeMessage.Examine(id, sent, plan, controls));
    try {
      if (dispatcher.ask(job) instanceof NodeMessage.Examined examined) return examined.verdict();
      throw new ClusterProblem("a node answered something else than a task's verdict");
    } catch (Job.Abandoned e) {
      throw new ClusterProblem(task.path() + ": " + e.getMessage(), e);
    }
  }

  /** Ample: an attempt that takes longer has a frozen process. */
  private static Duration limit(Limits limits) {
    Duration own =
        limits.load().plus(limits.call()).plus(limits.correctness()).plus(limits.device());
    return own.multipliedBy(4).plus(BESIDES);
  }

  @Override
  public void close() {
    dispatcher.close();
  }

  /** Examines tasks on the nodes of a cluster. */
  private record ClusterTasks(ClusterReferee referee, Plan plan, JudgingConditions conditions)
      implements TaskReferee {
    @Override
    public int capacity() {
      return referee.capacity();
    }

    @Override
    public TaskVerdict verify(Task task) throws InterruptedException {
      return here(task, referee.examine(task, plan, true));
    }

    @Override
    public TaskVerdict trace(Task task) throws InterruptedException {
      return here(task, referee.examine(task, plan, false));
    }

    @Override
    public String key(Task task) {
      return conditions.key(task, plan);
    }

    /** A node names its own copy of the task's file. */
    private TaskVerdict here(Task task, TaskVerdict there) {
      return new TaskVerdict(
          there.name(),
          there.suite(),
          there.category(),
          task.file().toString(),
          there.precision(),
          there.problem(),
          there.controls(),
          there.seconds(),
          key(task));
    }
  }
}

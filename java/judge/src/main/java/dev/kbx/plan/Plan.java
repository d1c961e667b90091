package dev.kbx.plan;

import dev.kbx.check.Rules;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.Stage;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The settings that apply to every candidate of a run.
 *
 * @param stages the requested stages; judging stops after the last
 * @param rules the enabled static rules
 * @param arch target of kernel compilation without a GPU, {@code sm_90}
 * @param secret seeds derive from it; see {@link Seeds}
 * @param tolerance how results are compared
 * @param grade which calls decide that a candidate is correct
 * @param precision what modules are cast to
 * @param policy who may compute results; empty for each task's own
 * @param baseline baseline of speedups
 * @param cache L2 state of timed calls
 * @param profile whether Nsight Compute profiles timed candidates
 * @param publishedAccounting whether candidates that are refused only because of who computes are
 *     called and compared nevertheless
 * @param memoryChecks whether what kernels do to memory decides: accesses outside of tensors,
 *     races, undefined values
 * @param inputs which of the task's inputs candidates are judged on
 * @param properties what serving needs and candidates are asked for besides, sorted
 * @param experts sources of kernels that candidates are timed beside, by the path of their task
 */
public record Plan(
    List<Stage> stages,
    Rules rules,
    String arch,
    String secret,
    Limits limits,
    Tolerance tolerance,
    Grade grade,
    ModulePrecision precision,
    Optional<Policy> policy,
    Baseline baseline,
    L2State cache,
    boolean profile,
    boolean publishedAccounting,
    boolean memoryChecks,
    Inputs inputs,
    List<ServingProperty> properties,
    Map<String, String> experts) {
  /** Architectures that launches can be compiled for without the GPU. */
  public static final List<String> ARCHITECTURES =
      List.of("sm_80", "sm_86", "sm_89", "sm_90", "sm_100");

  /** The default of them. */
  public static final String ARCH = "sm_90";

  private static final String DEVELOPMENT = " development";

  public Plan {
    if (stages.isEmpty()) throw new IllegalArgumentException("no stage asked for");
    stages = stages.stream().sorted().distinct().toList();
    properties = properties.stream().sorted().distinct().toList();
    experts = Map.copyOf(experts);
  }

  /** A plan for all inputs. */
  public Plan(
      List<Stage> stages,
      Rules rules,
      String arch,
      String secret,
      Limits limits,
      Tolerance tolerance,
      Grade grade,
      ModulePrecision precision,
      Optional<Policy> policy,
      Baseline baseline,
      L2State cache,
      boolean profile,
      boolean publishedAccounting,
      boolean memoryChecks) {
    this(
        stages,
        rules,
        arch,
        secret,
        limits,
        tolerance,
        grade,
        precision,
        policy,
        baseline,
        cache,
        profile,
        publishedAccounting,
        memoryChecks,
        Inputs.ALL,
        List.of(),
        Map.of());
  }

  /**
   * A plan with the error model, the general grade, modules as they are, eager PyTorch as the
   * baseline, a cold cache, checks of memory and neither profiles nor published accounting.
   */
  public Plan(List<Stage> stages, Rules rules, String arch, String secret, Limits limits) {
    this(stages, rules, arch, secret, limits, Grade.GENERAL);
  }

  /** A plan at a grade. */
  public Plan(
      List<Stage> stages, Rules rules, String arch, String secret, Limits limits, Grade grade) {
    this(
        stages,
        rules,
        arch,
        secret,
        limits,
        Tolerance.MODEL,
        grade,
        ModulePrecision.FP32,
        Optional.empty(),
        Baseline.EAGER,
        L2State.COLD,
        false,
        false,
        true);
  }

  /** This plan with limits extended by a task's requirements. */
  public Plan with(MemoryRequirements needs) {
    return changed(copy -> copy.limits = limits.with(needs));
  }

  /** This plan for a candidate that compiles in its calls, by compilers that take long. */
  public Plan withCompilers() {
    return changed(copy -> copy.limits = limits.withCompilers());
  }

  /** This plan without looking at what candidates do to memory. */
  public Plan withoutMemoryChecks() {
    return changed(copy -> copy.memoryChecks = false);
  }

  /** This plan without the perf stage; of one that has no other, the stages before it. */
  public Plan untimed() {
    List<Stage> asked = isPerfAlone() ? List.of(Stage.values()) : stages;
    return changed(
        copy -> copy.stages = asked.stream().filter(stage -> stage != Stage.PERF).toList());
  }

  /** Whether candidates are timed and nothing else. */
  public boolean isPerfAlone() {
    return stages.equals(List.of(Stage.PERF));
  }

  /**
   * This plan for feedback while kernels are written: on a part of the inputs, and with values that
   * tell nothing of those of the final judgement.
   *
   * @param profiled whether Nsight Compute profiles timed candidates
   */
  public Plan development(boolean profiled) {
    return changed(copy -> {
      copy.secret = secret + DEVELOPMENT;
      copy.profile = profiled;
      copy.inputs = Inputs.DEVELOPMENT;
    });
  }

  /** This plan at a policy. */
  public Plan at(Optional<Policy> other) {
    return changed(copy -> copy.policy = other);
  }

  /** This plan at a precision. */
  public Plan at(ModulePrecision other) {
    return changed(copy -> copy.precision = other);
  }

  /** Who may compute the result of a task. */
  public Policy policy(Task task) {
    return policy.orElseGet(() -> Policy.usual(task));
  }

  /** The label of what applies to tasks; of several, joined by commas. */
  public String policies(List<Task> tasks) {
    return tasks.stream()
        .map(this::policy)
        .distinct()
        .sorted()
        .map(Policy::label)
        .collect(Collectors.joining(","));
  }

  /** This plan with properties that candidates are asked for. */
  public Plan asking(List<ServingProperty> wanted) {
    return changed(copy -> copy.properties = wanted);
  }

  /** This plan with kernels that candidates are timed beside, by the path of their task. */
  public Plan beside(Map<String, String> sources) {
    return changed(copy -> copy.experts = sources);
  }

  /** The kernel that candidates for a task are timed beside; null if there is none. */
  public @Nullable String expert(Task task) {
    return experts.get(task.path());
  }

  /** The baseline in words: {@code eager}, or {@code eager, warm cache}. */
  public String against() {
    return against(baseline, null);
  }

  /**
   * The words for a given baseline.
   *
   * @param fastest which one that is, for {@link Baseline#BEST}
   */
  public String against(Baseline wanted, @Nullable String fastest) {
    return new Against(wanted.label(), fastest, warm()).toString();
  }

  public boolean warm() {
    return cache == L2State.WARM;
  }

  /** Whether candidates are run with their memory watched. */
  public boolean checksMemory() {
    return memoryChecks && reaches(Stage.CORRECT);
  }

  public boolean wants(Stage stage) {
    return stages.contains(stage);
  }

  /** Whether judging includes {@code stage}. */
  public boolean reaches(Stage stage) {
    return stages.getLast().compareTo(stage) >= 0;
  }

  private Plan changed(Consumer<Copy> change) {
    Copy copy = new Copy(this);
    change.accept(copy);
    return new Plan(
        copy.stages,
        rules,
        arch,
        copy.secret,
        copy.limits,
        tolerance,
        grade,
        copy.precision,
        copy.policy,
        baseline,
        cache,
        copy.profile,
        publishedAccounting,
        copy.memoryChecks,
        copy.inputs,
        copy.properties,
        copy.experts);
  }

  /** What may be changed of a plan. */
  private static final class Copy {
    private List<Stage> stages;
    private String secret;
    private Limits limits;
    private ModulePrecision precision;
    private Optional<Policy> policy;
    private boolean profile;
    private boolean memoryChecks;
    private Inputs inputs;
    private List<ServingProperty> properties;
    private Map<String, String> experts;

    private Copy(Plan plan) {
      stages = plan.stages;
      secret = plan.secret;
      limits = plan.limits;
      precision = plan.precision;
      policy = plan.policy;
      profile = plan.profile;
      memoryChecks = plan.memoryChecks;
      inputs = plan.inputs;
      properties = plan.properties;
      experts = plan.experts;
    }
  }
}

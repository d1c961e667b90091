package dev.kbx.cli;

import dev.kbx.plan.Baseline;
import dev.kbx.plan.L2State;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Tolerance;
import dev.kbx.prompt.Prompts;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Stage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What {@code kbx generate} and {@code kbx run} share: the tasks, the judging, the results. */
final class GenerationFlags {
  @Option(
      names = "--tasks",
      paramLabel = "GLOB",
      defaultValue = "*",
      description =
          "Only these tasks: names or Category/name, with * and ?, or level/number, separated by"
              + " commas.")
  String tasks = "*";

  @Option(
      names = "--out",
      paramLabel = "DIR",
      defaultValue = "kbx-out",
      description = "Results folder. Default: ${DEFAULT-VALUE}.")
  Path out = Path.of("kbx-out");

  @Option(
      names = "--resume",
      description = "Continue the newest unfinished run of these methods in --out.")
  boolean resume;

  @Option(names = "--json", description = "Print one JSON document on stdout, nothing else.")
  boolean json;

  @Option(
      names = "--keep-replies",
      description =
          "Keep replies in kbx's folder, and take what was asked before from there, in any run.")
  boolean keepReplies;

  @Option(
      names = "--prompts",
      paramLabel = "DIR",
      description = "Prompt files. Default: those of kbx, in prompts/.")
  private @Nullable Path prompts;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "20",
      converter = Values.Count.class,
      description =
          "Time limit for one call of a candidate's entry point, without compiling and waiting for"
              + " a processor. Default: ${DEFAULT-VALUE}.")
  private int timeout;

  @Option(
      names = "--arch",
      paramLabel = "ARCH",
      defaultValue = "sm_90",
      description =
          "Architecture to compile kernels for without a GPU: sm_80, sm_86, sm_89, sm_90,"
              + " sm_100. Default: ${DEFAULT-VALUE}.")
  private String arch = "sm_90";

  @Mixin GradeOption grade = new GradeOption();
  @Mixin PolicyOption policy = new PolicyOption();
  @Mixin private PrecisionOption precision = new PrecisionOption();
  @Mixin AskedTask asked = new AskedTask();
  @Mixin private SeedOption seed = new SeedOption();
  @Mixin RulesOption rules = new RulesOption();
  @Mixin ModelsOption models = new ModelsOption();

  Prompts prompts() {
    return prompts == null ? Prompts.bundled(Home.folder()) : Prompts.in(prompts);
  }

  /** The tasks that were asked for. */
  List<Task> select(Suite suite) {
    List<Task> selected = suite.find(tasks);
    check(selected);
    return selected;
  }

  /** Throws if one of the tasks cannot be judged as asked for. */
  void check(List<Task> selected) {
    precision.check(selected);
  }

  /** The plan of the final judgement, on inputs that no method has seen. */
  Plan heldOut() {
    return new Plan(
        List.of(Stage.values()),
        rules.rules(),
        Architectures.check(arch),
        seed.seed(),
        Limits.of(Duration.ofSeconds(timeout)),
        Tolerance.MODEL,
        grade.grade(),
        precision.precision(),
        policy.policy(),
        Baseline.EAGER,
        L2State.COLD,
        false,
        true);
  }
}

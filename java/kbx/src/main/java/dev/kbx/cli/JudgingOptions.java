package dev.kbx.cli;

import dev.kbx.app.Kbx;
import dev.kbx.app.UserError;
import dev.kbx.task.Policy;
import dev.kbx.task.Suites;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** By what candidates are judged, and how: what all commands share that begin runs. */
final class JudgingOptions {
  @Option(
      names = "--suite",
      paramLabel = "SUITE",
      description =
          "kernelbenchx, kernelbench, or a folder of task files. Default: " + Suites.DEFAULT + ".")
  private @Nullable String suite;

  @Option(
      names = "--reference",
      paramLabel = "FILE[:NAME]",
      description =
          "Your own reference in place of a suite: a Python file with a class Model, get_inputs()"
              + " and get_init_inputs(), or with a function and inputs(). NAME is the function,"
              + " where the file has several.")
  private @Nullable String reference;

  @Option(
      names = "--tasks",
      paramLabel = "GLOB",
      defaultValue = "*",
      description =
          "Only these tasks: names or Category/name, with * and ?, or level/number, separated by"
              + " commas.")
  private String tasks = "*";

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "20",
      description =
          "Time limit for one call of a candidate's entry point, without compiling and waiting for"
              + " a processor. Default: ${DEFAULT-VALUE}.")
  private int timeout;

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      description =
          "Who may compute results: kernel (kernels of the candidate's file; PyTorch may finish off"
              + " small partial results), or mixed (some of the work; PyTorch's share is reported)."
              + " Default: mixed for modules (Model, ModelNew) and imported tasks, else kernel.")
  private @Nullable String policy;

  @Mixin private ArchOption arch = new ArchOption();
  @Mixin private GradeOption grade = new GradeOption();
  @Mixin private PrecisionOption precision = new PrecisionOption();
  @Mixin private SeedOption seed = new SeedOption();
  @Mixin private RulesOption rules = new RulesOption();

  /** What was asked for. Throws UserError for a value that there is not. */
  Kbx.Options options() {
    if (reference != null && suite != null) {
      throw new UserError("--reference and --suite: give one of them; a reference needs no suite");
    }
    Kbx.Options options =
        new Kbx.Options()
            .tasks(tasks)
            .timeout(Duration.ofSeconds(timeout))
            .off(rules.off())
            .arch(arch.arch())
            .grade(grade.grade())
            .precision(precision.precision());
    if (suite != null) options.suite(suite);
    if (reference != null) options.reference(reference);
    if (policy != null) options.policy(policy(policy));
    seed.given().ifPresent(options::seed);
    return options;
  }

  private static Policy policy(String name) {
    return Policy.of(name)
        .orElseThrow(
            () -> new UserError("--policy: '%s' is not one of kernel,mixed".formatted(name)));
  }
}

package dev.kbx.cli;

import dev.kbx.plan.ModulePrecision;
import dev.kbx.task.Task;
import java.util.List;
import picocli.CommandLine.Option;

/** {@code --precision}, of commands that judge modules. */
final class PrecisionOption {
  @Option(
      names = "--precision",
      paramLabel = "NAME",
      defaultValue = "fp32",
      description =
          "For tasks with a Model, as KernelBench's: cast the weights and floating-point inputs of"
              + " reference and candidate to fp16 or bf16, or leave them as the task states (fp32)."
              + " Default: ${DEFAULT-VALUE}.")
  private String precision = "fp32";

  /** Throws if there is no such precision. */
  ModulePrecision precision() {
    return ModulePrecision.of(precision)
        .orElseThrow(() ->
            new UserError("--precision: '%s' is not one of fp32,fp16,bf16".formatted(precision)));
  }

  /** Throws if one of the tasks is judged in the dtypes that it states. */
  void check(List<Task> selected) {
    if (precision() == ModulePrecision.FP32) return;
    for (Task task : selected) {
      if (task.isModule()) continue;
      throw new UserError(
          "--precision %s: %s states its own dtypes; only tasks with a Model, as those of --suite kernelbench, can be cast"
              .formatted(precision, task.isOwn() ? "the reference " + task.name() : task.path()));
    }
  }
}

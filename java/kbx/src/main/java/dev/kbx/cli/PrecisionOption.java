package dev.kbx.cli;

import dev.kbx.app.UserError;
import dev.kbx.plan.ModulePrecision;
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
}

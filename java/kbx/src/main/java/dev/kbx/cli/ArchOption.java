package dev.kbx.cli;

import dev.kbx.plan.Plan;
import picocli.CommandLine.Option;

/** {@code --arch}, of commands that compile kernels. */
final class ArchOption {
  @Option(
      names = "--arch",
      paramLabel = "ARCH",
      defaultValue = Plan.ARCH,
      description =
          "Architecture to compile kernels for without a GPU: sm_80, sm_86, sm_89, sm_90,"
              + " sm_100. Default: ${DEFAULT-VALUE}.")
  private String arch = Plan.ARCH;

  /** As given: what uses it refuses a wrong one. */
  String arch() {
    return arch;
  }
}

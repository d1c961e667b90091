package dev.kbx.cli;

import dev.kbx.analysis.DeviceUse;
import dev.kbx.section.EfficiencySection;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kbx analyze efficiency [RUN…]}: how well correct kernels use the device. */
@Command(
    name = "efficiency",
    description = "Roofline position, share of the device's peak, and memory of correct kernels.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "By category, and by method and model; --json has every kernel. Several runs",
      "are one set of candidates; of several rounds the last one counts."
    })
final class EfficiencyCommand implements Callable<Integer> {
  @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

  @Override
  public Integer call() {
    DeviceUse use = DeviceUse.of(runs.read());
    runs.print("efficiency", use, use.entered(), () -> EfficiencySection.of(use));
    return ExitCode.OK;
  }
}

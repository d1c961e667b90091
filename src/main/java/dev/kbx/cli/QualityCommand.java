package dev.kbx.cli;

import dev.kbx.analysis.CodeQuality;
import dev.kbx.section.QualitySection;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kbx analyze quality [RUN…]}: complexity against failure, and techniques. */
@Command(
    name = "quality",
    description = "Complexity of code against failure; techniques attempted and successful.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Complexity of the reference and of the candidate, each against failing calls",
      "and against wrong results. Several runs are one set of candidates; of several",
      "rounds the last one counts."
    })
final class QualityCommand implements Callable<Integer> {
  @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

  @Override
  public Integer call() {
    CodeQuality quality = CodeQuality.of(runs.read());
    runs.print("quality", quality, quality.entered(), () -> QualitySection.of(quality));
    return ExitCode.OK;
  }
}

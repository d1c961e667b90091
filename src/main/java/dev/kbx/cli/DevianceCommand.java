package dev.kbx.cli;

import dev.kbx.analysis.Deviance;
import dev.kbx.section.DevianceSection;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kbx analyze deviance [RUN…]}: which factors explain failure. */
@Command(
    name = "deviance",
    description = "Which factors explain that candidates fail: category, method, model ...",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Explained deviance of logistic regressions, each factor alone and beyond the",
      "others, for call, correct, general grade, and faster than the baseline.",
      "Several runs are one set of candidates; of several rounds the last one counts."
    })
final class DevianceCommand implements Callable<Integer> {
  @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

  @Option(
      names = "--factor",
      paramLabel = "NAME",
      split = ",",
      description =
          "Only these factors, alone and together; also conditions of generation, as hardware or"
              + " shots. Default: all but conditions.")
  private List<String> factors = List.of();

  @Override
  public Integer call() {
    Deviance deviance = Deviance.of(runs.read(), factors);
    runs.print("deviance", deviance, deviance.entered(), () -> DevianceSection.of(deviance));
    return ExitCode.OK;
  }
}

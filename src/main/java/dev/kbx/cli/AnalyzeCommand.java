package dev.kbx.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kbx analyze}: figures of one or several runs. */
@Command(
    name = "analyze",
    description = "Analyse judged runs; alone, a summary of the newest one in --out.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "ANALYSIS",
    subcommands = {
      BudgetCommand.class,
      DevianceCommand.class,
      EfficiencyCommand.class,
      ErrorsCommand.class,
      FastpCommand.class,
      IterationsCommand.class,
      MethodsCommand.class,
      PasskCommand.class,
      PortabilityCommand.class,
      QualityCommand.class,
      SummaryCommand.class
    })
final class AnalyzeCommand implements Callable<Integer> {
  @Mixin private AnalyzedRuns.Output output = new AnalyzedRuns.Output();

  @Override
  public Integer call() {
    return new SummaryCommand(output).call();
  }
}

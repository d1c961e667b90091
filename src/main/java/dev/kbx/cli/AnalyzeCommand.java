package dev.kbx.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code kbx analyze}: figures of one or several runs. */
@Command(
    name = "analyze",
    description = "Analyse judged runs; alone, a summary of the newest one in kbx-out.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "ANALYSIS",
    subcommands = {
      BudgetCommand.class,
      DevianceCommand.class,
      ErrorsCommand.class,
      FastpCommand.class,
      IterationsCommand.class,
      MethodsCommand.class,
      PasskCommand.class,
      PortabilityCommand.class,
      SummaryCommand.class
    })
final class AnalyzeCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    return new SummaryCommand().call();
  }
}

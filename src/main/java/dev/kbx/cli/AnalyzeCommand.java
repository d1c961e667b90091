package dev.kbx.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code kbx analyze}: figures of one or several runs. */
@Command(
    name = "analyze",
    description = "Analyse judged runs.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "(budget | fastp | passk | portability)",
    subcommands = {
      BudgetCommand.class,
      FastpCommand.class,
      PasskCommand.class,
      PortabilityCommand.class
    })
final class AnalyzeCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new UserError("analyze: say budget, fastp, passk or portability, and RUN...");
  }
}

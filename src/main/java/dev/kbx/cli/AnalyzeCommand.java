package dev.kbx.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code kbx analyze}: figures that take whole runs, or several. */
@Command(
    name = "analyze",
    description = "Analyse judged runs.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "(fastp | portability)",
    subcommands = {FastpCommand.class, PortabilityCommand.class})
final class AnalyzeCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new UserError("analyze: say fastp or portability, and RUN...");
  }
}

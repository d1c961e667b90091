package dev.kbx.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code kbx analyze portability}: what runs say together. */
@Command(
    name = "analyze",
    description = "Analyse judged runs.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "portability",
    subcommands = {PortabilityCommand.class})
final class AnalyzeCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new UserError("analyze: say portability RUN...");
  }
}

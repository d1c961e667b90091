package dev.kbx.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code kbx bench cheats}: how well kbx itself judges. */
@Command(
    name = "bench",
    description = "Measure kbx itself.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "cheats",
    subcommands = {CheatsCommand.class})
final class BenchCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new UserError("bench: say cheats");
  }
}

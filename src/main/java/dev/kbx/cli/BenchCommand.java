package dev.kbx.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code kbx bench cheats|referee}: how well kbx itself judges, and at what cost. */
@Command(
    name = "bench",
    description = "Measure kbx itself.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "cheats|referee",
    subcommands = {CheatsCommand.class, RefereeCommand.class})
final class BenchCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new UserError("bench: say cheats or referee");
  }
}

package dev.kbx.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code kbx bench cheats|referee|throughput}: how well kbx itself judges, and at what cost. */
@Command(
    name = "bench",
    description = "Measure kbx itself.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "cheats|referee|throughput",
    subcommands = {CheatsCommand.class, RefereeCommand.class, ThroughputCommand.class})
final class BenchCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new UserError("bench: say cheats, referee or throughput");
  }
}

package dev.kbx.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code kbx bench cheats|throughput}: how well kbx itself judges. */
@Command(
    name = "bench",
    description = "Measure kbx itself.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "cheats|throughput",
    subcommands = {CheatsCommand.class, ThroughputCommand.class})
final class BenchCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new UserError("bench: say cheats or throughput");
  }
}

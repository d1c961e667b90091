package dev.kbx.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code kbx bench cheats|noise|throughput}: how well kbx itself judges and times. */
@Command(
    name = "bench",
    description = "Measure kbx itself.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "cheats|noise|throughput",
    subcommands = {CheatsCommand.class, NoiseCommand.class, ThroughputCommand.class})
final class BenchCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new UserError("bench: say cheats, noise or throughput");
  }
}

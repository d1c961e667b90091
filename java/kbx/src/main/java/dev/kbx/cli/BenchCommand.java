package dev.kbx.cli;

import dev.kbx.error.InputException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * {@code kbx bench cheats|noise|referee|throughput}: how well kbx judges and times, at what cost.
 */
@Command(
    name = "bench",
    description = "Measure kbx itself.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "cheats|noise|referee|throughput",
    subcommands = {
      CheatsCommand.class,
      NoiseCommand.class,
      RefereeCommand.class,
      ThroughputCommand.class
    })
final class BenchCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new InputException("bench: say cheats, noise, referee or throughput");
  }
}

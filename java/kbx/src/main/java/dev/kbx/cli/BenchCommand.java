package dev.kbx.cli;

import dev.kbx.error.InputException;
import java.util.ServiceLoader;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/**
 * {@code kbx bench cheats|noise|redteam|referee|throughput}: how well kbx judges and times, at what
 * cost.
 *
 * <p>All but {@code noise} and {@code redteam} are in a jar file of their own, which the launcher
 * has on the class path for this command alone.
 */
@Command(
    name = "bench",
    description = "Measure kbx itself.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "cheats|noise|redteam|referee|throughput",
    modelTransformer = BenchCommand.Subcommands.class)
final class BenchCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new InputException("bench: say cheats, noise, redteam, referee or throughput");
  }

  /** Adds the subcommands, in the order of their names. */
  static final class Subcommands implements CommandLine.IModelTransformer {
    @Override
    public CommandSpec transform(CommandSpec bench) {
      SortedMap<String, CommandLine> found = new TreeMap<>();
      add(found, new NoiseCommand());
      add(found, new RedteamCommand());
      for (Benchmark each : ServiceLoader.load(Benchmark.class)) add(found, each);
      found.forEach(bench::addSubcommand);
      return bench;
    }

    private static void add(SortedMap<String, CommandLine> found, Object command) {
      CommandLine line = new CommandLine(command);
      found.put(line.getCommandName(), line);
    }
  }
}

package dev.kbx.cli;

import dev.kbx.analysis.Portability;
import dev.kbx.report.PortabilityText;
import dev.kbx.verdict.Json;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx analyze portability RUN…}: the same kernels on several devices. */
@Command(
    name = "portability",
    description = "How speedups of the same kernels differ between devices.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "A kernel is one source for one task; a device is its name and UUID. Those",
      "correct and timed on every device enter; for the others it says why not."
    })
final class PortabilityCommand implements Callable<Integer> {
  @Parameters(paramLabel = "RUN", arity = "1..*", description = RunReference.HELP)
  private List<String> runs = List.of();

  @Mixin private RunsCommand.Folder folder = new RunsCommand.Folder();

  @Option(names = "--json", description = "Print one JSON document on stdout, nothing else.")
  private boolean json;

  @Override
  public Integer call() {
    Portability portability = Portability.of(RunReference.read(runs, folder));
    if (json) {
      System.out.println(
          Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(portability));
    } else {
      System.out.print(new PortabilityText(Terminal.columns()).render(portability));
    }
    return ExitCode.OK;
  }
}

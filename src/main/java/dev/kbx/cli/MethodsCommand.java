package dev.kbx.cli;

import dev.kbx.analysis.Methods;
import dev.kbx.section.MethodsSection;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kbx analyze methods [RUN…]}: methods and models side by side. */
@Command(
    name = "methods",
    description = "Methods and models side by side: rates by category, tests, who solves what.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Rates are of all tasks asked for. Pairs are compared on the same tasks by",
      "McNemar's exact test. Several runs are one set of candidates; of several",
      "rounds the last one counts."
    })
final class MethodsCommand implements Callable<Integer> {
  @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

  @Option(
      names = "--k",
      paramLabel = "K",
      split = ",",
      defaultValue = "1,5,10",
      converter = Values.Count.class,
      description = "Samples of pass@k and fast_p@k. Default: ${DEFAULT-VALUE}.")
  private List<Integer> ks = List.of();

  @Option(
      names = "--p",
      paramLabel = "P",
      split = ",",
      defaultValue = "1,2",
      converter = Values.Positive.class,
      description = "Speedups of fast_p@k. Default: ${DEFAULT-VALUE}.")
  private List<Double> ps = List.of();

  @Override
  public Integer call() {
    Methods methods =
        Methods.of(
            runs.read(),
            ks.stream().distinct().sorted().toList(),
            ps.stream().distinct().sorted().toList());
    runs.print("methods", methods, methods.entered(), () -> MethodsSection.of(methods));
    return ExitCode.OK;
  }
}

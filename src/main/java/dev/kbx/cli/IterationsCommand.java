package dev.kbx.cli;

import dev.kbx.analysis.AskedRuns;
import dev.kbx.analysis.Iterations;
import dev.kbx.section.IterationsSection;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kbx analyze iterations [RUN…]}: what rounds of refinement gain. */
@Command(
    name = "iterations",
    description = "What rounds gain: rescued, regressed, solved by round, faster or slower.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "For every method and model with candidates of several rounds. A kernel with",
      "the same source in both rounds is never faster or slower: what its speedup",
      "moves by is noise. Several runs are one set of candidates."
    })
final class IterationsCommand implements Callable<Integer> {
  @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

  @Override
  public Integer call() {
    AskedRuns judged = runs.read();
    Iterations iterations = Iterations.of(judged, NoiseFloors.ofRuns(judged));
    runs.print(
        "iterations", iterations, iterations.entered(), () -> IterationsSection.of(iterations));
    return ExitCode.OK;
  }
}

package dev.kbx.cli;

import dev.kbx.analysis.AskedRuns;
import dev.kbx.analysis.Causes;
import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.Errors;
import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.Outcome;
import dev.kbx.section.AdvisedErrors;
import dev.kbx.section.Overview;
import dev.kbx.section.OverviewSection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kbx analyze summary [RUN…]}: what matters most, on a page. */
@Command(
    name = "summary",
    description = "What matters most of all analyses, on a page.",
    mixinStandardHelpOptions = true,
    footer = {"", "--json has the complete analyses."})
final class SummaryCommand implements Callable<Integer> {
  @Mixin private AnalyzedRuns runs;

  SummaryCommand() {
    this(new AnalyzedRuns.Output());
  }

  /** Of the newest run. */
  SummaryCommand(AnalyzedRuns.Output output) {
    runs = new AnalyzedRuns(output);
  }

  @Override
  public Integer call() {
    Causes causes = new Causes();
    AskedRuns judged = runs.read(causes::add);
    Methods methods = Methods.of(judged, List.of(1), List.of());
    // A page shows little of the whole deviance, which takes a third of all the time.
    Overview overview =
        runs.isJson()
            ? overview(judged, methods, causes)
            : overview(judged, methods, causes, () -> Deviance.brief(judged, Outcome.CORRECT));
    runs.print("summary", overview, methods.entered(), () -> OverviewSection.of(overview));
    return ExitCode.OK;
  }

  /** All analyses beside that of methods. */
  static Overview overview(AskedRuns runs, Methods methods, Causes causes) {
    return overview(runs, methods, causes, () -> Deviance.of(runs));
  }

  private static Overview overview(
      AskedRuns runs, Methods methods, Causes causes, Supplier<Deviance> explained) {
    // The deviance takes longest and itself uses what processors are idle.
    var iterations = CompletableFuture.supplyAsync(() -> iterations(runs));
    var errors = CompletableFuture.supplyAsync(() -> AdvisedErrors.of(Errors.of(runs, causes)));
    Deviance deviance = explained.get();
    return new Overview(methods, deviance, iterations.join().orElse(null), errors.join());
  }

  private static Optional<Iterations> iterations(AskedRuns runs) {
    return Iterations.haveRounds(runs)
        ? Optional.of(Iterations.of(runs, NoiseFloors.ofRuns(runs)))
        : Optional.empty();
  }
}

package dev.kbx.cli;

import dev.kbx.analysis.AskedRuns;
import dev.kbx.analysis.Causes;
import dev.kbx.analysis.Errors;
import dev.kbx.section.AdvisedErrors;
import dev.kbx.section.ErrorsSection;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kbx analyze errors [RUN…]}: what goes wrong, and what would have helped. */
@Command(
    name = "errors",
    description = "What goes wrong, by stage, rule and message, and what would have helped.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Messages about equal mistakes are counted together, with one example. Several",
      "runs are one set of candidates; of several rounds the last one counts."
    })
final class ErrorsCommand implements Callable<Integer> {
  @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

  @Override
  public Integer call() {
    Causes causes = new Causes();
    AskedRuns judged = runs.read(causes::add);
    AdvisedErrors errors = AdvisedErrors.of(Errors.of(judged, causes));
    runs.print("errors", errors, errors.errors().entered(), () -> ErrorsSection.of(errors));
    return ExitCode.OK;
  }
}

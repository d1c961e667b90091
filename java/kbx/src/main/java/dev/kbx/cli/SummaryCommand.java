package dev.kbx.cli;

import dev.kbx.analysis.Causes;
import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.Outcome;
import dev.kbx.analysis.SelectedRuns;
import dev.kbx.app.NoiseFloors;
import dev.kbx.app.PublishedRuns;
import dev.kbx.document.Document;
import dev.kbx.document.Section;
import dev.kbx.section.InclusionSection;
import dev.kbx.section.OverviewSection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
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

  /** A summary of the newest run. */
  SummaryCommand(AnalyzedRuns.Output output) {
    runs = new AnalyzedRuns(output);
  }

  @Override
  public Integer call() {
    Causes causes = new Causes();
    SelectedRuns judged = runs.read(causes::add);
    NoiseFloors floors = Terminal.noiseFloors();
    Methods methods = Methods.of(judged, List.of(1), List.of());
    // A page shows little of the whole deviance, which takes a third of all the time.
    OverviewSection.Overview overview =
        runs.isJson()
            ? PublishedRuns.overview(judged, methods, causes, floors, () -> Deviance.of(judged))
            : PublishedRuns.overview(
                judged, methods, causes, floors, () -> Deviance.brief(judged, Outcome.CORRECT));
    runs.print(
        Map.of("kind", "summary", "summary", overview),
        () -> {
          Section said = OverviewSection.of(overview);
          return new Document(said.title(), List.of(said, InclusionSection.of(methods.entered())));
        });
    return ExitCode.OK;
  }
}

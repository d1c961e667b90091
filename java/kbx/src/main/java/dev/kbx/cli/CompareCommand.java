package dev.kbx.cli;

import dev.kbx.analysis.Comparison;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.Portability;
import dev.kbx.app.NamedRun;
import dev.kbx.app.NoiseFloors;
import dev.kbx.app.ResultsFolder;
import dev.kbx.document.Document;
import dev.kbx.error.InputException;
import dev.kbx.report.ComparisonPage;
import dev.kbx.section.ComparisonSection;
import dev.kbx.verdict.NoiseFloor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code kbx compare RUN RUN…}: each run against the one before it, or devices against each other.
 */
@Command(
    name = "compare",
    description = "Compare runs: what became right or wrong, faster or slower.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Runs on one device: each against the one before it, as given. Timed runs on",
      "different devices: as 'kbx analyze portability'. Where a run was not timed,",
      "statuses are compared."
    })
final class CompareCommand implements Callable<Integer> {
  @Parameters(paramLabel = "RUN", arity = "2..*", description = NamedRun.HELP)
  private List<String> runs = List.of();

  @Mixin private Options.Results results = new Options.Results();

  @Mixin private DocumentFormat format = new DocumentFormat();

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "Also write two runs as one HTML page, with the changes of the sources.")
  private @Nullable Path page;

  /** The name that it had. */
  @Option(names = "--page", hidden = true)
  void formerly(Path given) {
    page = given;
  }

  @Override
  public Integer call() {
    List<JudgedRun> judged = NamedRun.read(runs, results.folder());
    if (page != null && judged.size() != 2) {
      throw new InputException("--output: shows two runs, not %d".formatted(judged.size()));
    }
    if (Portability.isFor(judged)) {
      if (page != null) {
        throw new InputException(
            "--output: these runs are on different devices, so neither is a later state of the"
                + " other; leave it out for the table of devices");
      }
      PortabilityCommand.print(Portability.of(judged), format);
      return ExitCode.OK;
    }
    NoiseFloors floors = Terminal.noiseFloors();
    List<Comparison> steps = new ArrayList<>();
    for (int i = 1; i < judged.size(); i++) {
      JudgedRun now = judged.get(i);
      List<NoiseFloor> known = now.gpus().stream().flatMap(gpu -> floors.of(gpu).stream()).toList();
      steps.add(Comparison.of(judged.get(i - 1), now, known));
    }
    if (page != null) {
      write(ResultsFolder.file("--output " + page, page, ".html"), steps.getFirst());
    }
    format.print(
        DocumentFormat.AsPublished.among(judged),
        Map.of("kind", "comparison", "steps", steps),
        () ->
            Document.ofAlike(
                "What changed between runs", steps.stream().map(ComparisonSection::of).toList()));
    if (page != null && !format.isJson()) System.out.println("page: " + page);
    return ExitCode.OK;
  }

  private void write(Path file, Comparison comparison) {
    Set<String> wanted = ComparisonPage.wanted(comparison);
    Map<String, String> sources = new HashMap<>();
    for (String run : runs) sources.putAll(NamedRun.sources(run, results.folder(), wanted));
    new ComparisonPage(comparison, sources).write(file);
  }
}

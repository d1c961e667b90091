package dev.kbx.cli;

import dev.kbx.analysis.Comparison;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.Portability;
import dev.kbx.report.ComparisonText;
import dev.kbx.report.PortabilityText;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.NoiseFloor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
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
  @Parameters(paramLabel = "RUN", arity = "2..*", description = RunReference.HELP)
  private List<String> runs = List.of();

  @Mixin private RunsCommand.Folder folder = new RunsCommand.Folder();

  @Option(names = "--json", description = "Print one JSON document on stdout, nothing else.")
  private boolean json;

  @Override
  public Integer call() {
    List<JudgedRun> judged = RunReference.read(runs, folder);
    if (Portability.isFor(judged)) {
      Portability portability = Portability.of(judged);
      print(portability, new PortabilityText(Terminal.columns()).render(portability));
      return ExitCode.OK;
    }
    NoiseFloors floors = NoiseFloors.kept();
    List<Comparison> steps = new ArrayList<>();
    for (int i = 1; i < judged.size(); i++) {
      JudgedRun now = judged.get(i);
      List<NoiseFloor> known =
          now.cards().stream().flatMap(card -> floors.of(card).stream()).toList();
      steps.add(Comparison.of(judged.get(i - 1), now, known));
    }
    Map<String, Object> document = Map.of("kind", "comparison", "steps", steps);
    ComparisonText text = new ComparisonText(Terminal.columns());
    AsPublished published = AsPublished.among(judged);
    if (!json) published.print(System.out);
    print(published.marked(document), String.join("\n", steps.stream().map(text::render).toList()));
    return ExitCode.OK;
  }

  private void print(Object document, String text) {
    if (json) {
      System.out.println(
          Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(document));
    } else {
      System.out.print(text);
    }
  }
}

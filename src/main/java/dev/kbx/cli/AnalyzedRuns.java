package dev.kbx.cli;

import dev.kbx.analysis.AskedRun;
import dev.kbx.analysis.AskedRuns;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.report.AskedSuite;
import dev.kbx.task.Task;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Json;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What analyses of several runs as one set have in common: the runs, and where they print. */
final class AnalyzedRuns {
  @Parameters(
      paramLabel = "RUN",
      arity = "0..*",
      description = RunReference.HELP + " Without one, the newest complete run in --out.")
  private List<String> runs = List.of();

  @Mixin private Output output = new Output();

  /** Where runs are, and how a document is printed. */
  static final class Output {
    @Mixin private RunsCommand.Folder folder = new RunsCommand.Folder();

    @Option(names = "--json", description = "Print one JSON document on stdout, nothing else.")
    private boolean json;
  }

  AnalyzedRuns() {}

  /** The newest run. */
  AnalyzedRuns(Output output) {
    this.output = output;
  }

  private AsPublished published = AsPublished.among(List.of());

  /** The runs with the tasks that they asked for. */
  AskedRuns read() {
    return read((_, _) -> {});
  }

  /** The same; each verdict is shown to {@code reader} with its row, and not kept. */
  AskedRuns read(BiConsumer<VerdictRow, BriefVerdict> reader) {
    List<JudgedRun> judged =
        runs.isEmpty()
            ? List.of(RunReference.newest(output.folder, reader))
            : RunReference.read(runs, output.folder, reader);
    AsPublished.refuseMixture(judged);
    published = AsPublished.among(judged);
    return asked(judged);
  }

  /** Runs as one set, with the tasks that they asked for. */
  static AskedRuns asked(List<JudgedRun> judged) {
    List<AskedRun> asked =
        judged.stream()
            .map(run -> {
              List<Task> selected = Home.selected(run.run());
              return new AskedRun(
                  run, AskedSuite.of(run, selected), AskedSuite.traits(run, selected));
            })
            .toList();
    checkSuites(asked);
    return new AskedRuns(asked);
  }

  /** Tasks of two suites have no categories in common. */
  private static void checkSuites(List<AskedRun> runs) {
    String first = runs.getFirst().judged().run().suite();
    for (AskedRun run : runs) {
      String other = run.judged().run().suite();
      if (other.equals(first)) continue;
      throw new UserError(
          "runs of two suites, %s and %s: analyse them one by one".formatted(first, other));
    }
  }

  /** Whether the document is printed, not its text. */
  boolean isJson() {
    return output.json;
  }

  /** Prints a document, or its text. */
  void print(String kind, Object document, Supplier<String> text) {
    if (output.json) {
      System.out.println(
          Json.mapper()
              .writerWithDefaultPrettyPrinter()
              .writeValueAsString(published.marked(Map.of("kind", kind, kind, document))));
    } else {
      published.print(System.out);
      System.out.print(text.get());
    }
  }
}

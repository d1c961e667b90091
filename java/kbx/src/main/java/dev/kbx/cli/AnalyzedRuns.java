package dev.kbx.cli;

import dev.kbx.analysis.AskedRun;
import dev.kbx.analysis.AskedRuns;
import dev.kbx.analysis.Entered;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.app.Home;
import dev.kbx.app.NamedRun;
import dev.kbx.app.UserError;
import dev.kbx.document.Document;
import dev.kbx.document.Section;
import dev.kbx.report.AskedSuite;
import dev.kbx.section.EnteredSection;
import dev.kbx.task.Task;
import dev.kbx.verdict.BriefVerdict;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** What analyses of several runs as one set have in common: the runs, and where they print. */
final class AnalyzedRuns {
  @Parameters(
      paramLabel = "RUN",
      arity = "0..*",
      description = NamedRun.HELP + " Without one, the newest complete run in --out.")
  private List<String> runs = List.of();

  @Mixin private Output output = new Output();

  /** Where runs are, and how a document is printed. */
  static final class Output {
    @Mixin private Options.Results results = new Options.Results();

    @Mixin private DocumentFormat format = new DocumentFormat();
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
            ? List.of(NamedRun.newest(output.results.folder(), reader))
            : NamedRun.read(runs, output.results.folder(), reader);
    AsPublished.refuseMixture(judged);
    published = AsPublished.among(judged);
    return asked(judged);
  }

  /** Runs as one set, with the tasks that they asked for. */
  static AskedRuns asked(List<JudgedRun> judged) {
    List<AskedRun> asked =
        judged.stream()
            .map(run -> {
              List<Task> selected = Home.here().selected(run.run());
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

  boolean isJson() {
    return output.format.isJson();
  }

  /** Prints an analysis of the runs after what it counts. */
  void print(String kind, Object analysis, Entered entered, Supplier<Section> section) {
    output.format.print(
        published,
        Map.of("kind", kind, kind, analysis),
        () -> {
          Section said = section.get();
          return new Document(said.title(), List.of(EnteredSection.of(entered), said));
        });
  }
}

package dev.kbx.cli;

import dev.kbx.analysis.Inclusion;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.SelectedRuns;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.app.Home;
import dev.kbx.app.NamedRun;
import dev.kbx.app.ResultsFolder;
import dev.kbx.document.Document;
import dev.kbx.document.Section;
import dev.kbx.section.InclusionSection;
import dev.kbx.verdict.BriefVerdict;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** What analyses of runs have in common: the runs, and where they print. */
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

  private DocumentFormat.AsPublished published = DocumentFormat.AsPublished.among(List.of());

  /** The runs with the tasks that they asked for. */
  SelectedRuns read() {
    return read((_, _) -> {});
  }

  /** The same; each verdict is shown to {@code reader} with its row, and not kept. */
  SelectedRuns read(BiConsumer<VerdictRow, BriefVerdict> reader) {
    return NamedRun.asked(Home.here(), judged(reader));
  }

  /** The runs each for itself. */
  List<JudgedRun> each() {
    return judged((_, _) -> {});
  }

  private List<JudgedRun> judged(BiConsumer<VerdictRow, BriefVerdict> reader) {
    List<JudgedRun> judged =
        runs.isEmpty()
            ? List.of(NamedRun.newest(output.results.folder(), reader))
            : NamedRun.read(runs, output.results.folder(), reader);
    published = DocumentFormat.AsPublished.among(judged);
    return judged;
  }

  /** The runs with the places of their files. */
  List<NamedRun.Found> found() {
    ResultsFolder folder = output.results.folder();
    return NamedRun.find(runs.isEmpty() ? List.of(folder.out().toString()) : runs, folder);
  }

  DocumentFormat format() {
    return output.format;
  }

  boolean isJson() {
    return output.format.isJson();
  }

  /** Prints figures as JSON, or the document about them. */
  void print(Map<String, ?> figures, Supplier<Document> document) {
    output.format.print(published, figures, document);
  }

  /** Prints an analysis of the runs after what it counts. */
  void print(String kind, Object analysis, Inclusion entered, Supplier<Section> section) {
    print(
        Map.of("kind", kind, kind, analysis),
        () -> {
          Section said = section.get();
          return new Document(said.title(), List.of(InclusionSection.of(entered), said));
        });
  }
}

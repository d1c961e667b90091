package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.PublishedImport;
import dev.kbx.app.ResultsFolder;
import dev.kbx.document.Counted;
import dev.kbx.error.InputException;
import dev.kbx.published.PublishedFormat;
import dev.kbx.published.PublishedReading;
import dev.kbx.task.Suites;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx import FORMAT PATH}: published results as runs of their own kind. */
@Command(
    name = "import",
    description = "Read results as others published them, as runs beside your own.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "kernelbenchx-corpus: KernelBench-X's iteration corpus, JSONL files.",
      "kernelbenchx-results: metrics.json; summary.json beside it names the method.",
      "kernelbench-results: eval_results.json, or a run folder with its kernels.",
      "flashinfer: traces of flashinfer-bench, a file or a dataset's folder.",
      "geak: NAME_0.jsonl ... with NAME_mem_0.json ..., which has the outcomes.",
      "kernelagent: session folders.",
      "",
      "Nothing is judged: the run is marked 'as published' wherever it is shown, and",
      "no analysis mixes it with runs that kbx judged. Its kernels are in",
      "runs/<run id>/predictions.jsonl: 'kbx eval' judges them, 'kbx compare' has",
      "both beside each other. Results on several devices are a run each."
    })
final class ImportCommand implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "FORMAT", description = "Format of the files.")
  private String format = "";

  @Parameters(index = "1", paramLabel = "PATH", description = "A file or folder.")
  private Path path = Path.of("");

  @Option(
      names = "--suite",
      paramLabel = "SUITE",
      description = "The suite that the tasks are of. Default: kernelbenchx or kernelbench.")
  private @Nullable String suite;

  @Option(
      names = "--method",
      paramLabel = "NAME",
      description = "What wrote the kernels, where the files do not say.")
  private @Nullable String method;

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "Which model wrote them, where the files do not say.")
  private @Nullable String model;

  @Option(
      names = "--level",
      paramLabel = "N",
      description = "kernelbench-results: level of the problems, where the files do not say.")
  private @Nullable Integer level;

  @Mixin private Options.JsonFlag json = new Options.JsonFlag();

  @Mixin private Options.Label label = new Options.Label();

  @Mixin private Options.Results results = new Options.Results();

  @Override
  public Integer call() throws Exception {
    PublishedFormat wanted =
        PublishedFormat.of(format)
            .orElseThrow(() ->
                new InputException(
                    "import: no format '%s'; there are %s"
                        .formatted(format, String.join(", ", PublishedFormat.labels()))));
    ResultsFolder into = results.folder();
    PublishedImport.Imported imported =
        PublishedImport.run(
            Home.here(),
            new PublishedImport.Request(
                wanted,
                path,
                suite,
                new PublishedFormat.Given(method, model, level),
                into,
                label.label()),
            new TerminalObserver());
    List<RunInfo> runs = imported.runs();
    print(runs, imported.reading());
    Problems.recall(
        imported.problems(),
        into.out().resolve("runs").resolve(runs.getFirst().id()).resolve("summary.json"));
    return ExitCode.OK;
  }

  private void print(List<RunInfo> runs, PublishedReading reading) {
    if (json.isAsked()) {
      Options.JsonFlag.print(runs);
      return;
    }
    for (RunInfo run : runs) {
      System.out.printf(
          "run %s, as published: %s, device %s%n",
          run.id(), Counted.of(run.candidates(), "result"), run.device().name());
    }
    System.out.printf(
        "%s read: %d repeat another, %d unusable, %d of these for no task of the suite; %s in them,"
            + " %d without an outcome%n",
        Counted.of(reading.records(), "record"),
        reading.repeated(),
        reading.unusable(),
        reading.ofOtherTasks(),
        Counted.of(reading.results().size(), "result"),
        reading.results().size() - reading.stated().size());
    if (reading.moved() > 0) {
      System.out.printf(
          "%s for tasks that the suite has in another category%n",
          Counted.of(reading.moved(), "record"));
    }
    boolean code = reading.results().stream().anyMatch(result -> result.code() != null);
    if (code && suiteFlag() != null) {
      System.out.printf(
          "to judge its kernels: kbx eval %s%s%n",
          results
              .folder()
              .out()
              .resolve("runs")
              .resolve(runs.getFirst().id())
              .resolve(PublishedImport.KERNELS),
          suiteFlag());
    }
  }

  /** How to name the suite; null if kbx has no such tasks. */
  private @Nullable String suiteFlag() {
    String of = PublishedFormat.of(format).map(PublishedFormat::suite).orElse(null);
    String named = suite == null ? of : suite;
    if (named == null) return null;
    return named.equals(Suites.DEFAULT) ? "" : " --suite " + named;
  }
}

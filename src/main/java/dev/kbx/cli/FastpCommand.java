package dev.kbx.cli;

import dev.kbx.analysis.FastP;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.document.Document;
import dev.kbx.report.AskedSuite;
import dev.kbx.section.FastPSection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx analyze fastp RUN…}: how many tasks are solved, and how fast. */
@Command(
    name = "fastp",
    description = "The share of tasks with a correct kernel more than p times as fast (fast_p).",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Out of all tasks that the run asked for, one candidate a task: the first",
      "sample. Against every baseline that the verdicts hold, and the best of",
      "several. Candidates of several methods, models or rounds in one run are shown",
      "apart."
    })
final class FastpCommand implements Callable<Integer> {
  @Parameters(paramLabel = "RUN", arity = "1..*", description = RunReference.HELP)
  private List<String> runs = List.of();

  @Mixin private RunsCommand.Folder folder = new RunsCommand.Folder();

  @Option(
      names = "--best",
      description = "Take each task's best sample, the fastest correct one, in place of the first.")
  private boolean best;

  @Mixin private DocumentFormat format = new DocumentFormat();

  @Override
  public Integer call() {
    FastP.Pick pick = best ? FastP.Pick.BEST_SAMPLE : FastP.Pick.FIRST_SAMPLE;
    List<FastP> all = new ArrayList<>();
    List<JudgedRun> judged = RunReference.read(runs, folder);
    AsPublished published = AsPublished.among(judged);
    for (JudgedRun run : judged) {
      all.addAll(FastP.of(run, AskedSuite.of(run, Home.selected(run.run())), pick));
    }
    format.print(
        published,
        Map.of("kind", "fastp", "series", all),
        () ->
            new Document(
                "How many tasks are solved, and how fast",
                all.stream().map(FastPSection::of).toList()));
    return ExitCode.OK;
  }
}

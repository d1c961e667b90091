package dev.kbx.cli;

import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.PassK;
import dev.kbx.document.Document;
import dev.kbx.report.AskedSuite;
import dev.kbx.section.PassKSection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx analyze passk RUN…}: pass@k of the samples of each task. */
@Command(
    name = "passk",
    description = "The chance that one of k samples passes (pass@k).",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "called, correct, and fast: correct and faster than eager. A task enters with",
      "at least k judged samples; k is never made smaller. Candidates of several",
      "methods, models or rounds in one run are shown apart."
    })
final class PasskCommand implements Callable<Integer> {
  @Parameters(paramLabel = "RUN", arity = "1..*", description = RunReference.HELP)
  private List<String> runs = List.of();

  @Mixin private RunsCommand.Folder folder = new RunsCommand.Folder();

  @Option(
      names = "--k",
      paramLabel = "K",
      split = ",",
      defaultValue = "1,5,10",
      description = "Samples, as numbers with commas between. Default: ${DEFAULT-VALUE}.")
  private List<String> ks = List.of();

  @Mixin private DocumentFormat format = new DocumentFormat();

  @Override
  public Integer call() {
    List<Integer> wanted = ks.stream().map(PasskCommand::samples).toList();
    List<PassK> all = new ArrayList<>();
    List<JudgedRun> judged = RunReference.read(runs, folder);
    AsPublished published = AsPublished.among(judged);
    for (JudgedRun run : judged) {
      all.addAll(PassK.of(run, AskedSuite.of(run, Home.selected(run.run())), wanted));
    }
    format.print(
        published,
        Map.of("kind", "passk", "series", all),
        () ->
            new Document(
                "What several samples solve", all.stream().map(PassKSection::of).toList()));
    return ExitCode.OK;
  }

  private static int samples(String k) {
    try {
      int samples = Integer.parseInt(k.strip());
      if (samples > 0) return samples;
    } catch (NumberFormatException _) {
      // Said below.
    }
    throw new UserError("--k: '%s' is no number of samples, such as 1,5,10".formatted(k));
  }
}

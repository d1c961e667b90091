package dev.kbx.cli;

import dev.kbx.analysis.Contamination;
import dev.kbx.app.Home;
import dev.kbx.app.RunAudit;
import dev.kbx.document.Document;
import dev.kbx.section.ContaminationSection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx audit [RUN]}: traces of contamination in a run of methods. */
@Command(
    name = "audit",
    description = "Look in a run of methods for what an attempt should not have seen.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Answers nearly equal to a source of another attempt, text of a task's file,",
      "names of kbx's folders and other runs in transcripts, and what the sandbox",
      "of agents refused. docs/agents.md says how each is measured.",
      "",
      "Exit codes: 0 the ledger was read, whatever was found; with --strict 1 if",
      "there is a trace (what was refused is none); 1 wrong usage or no such run."
    })
final class AuditCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "RUN",
      arity = "0..1",
      description =
          "A run of methods: its id in --out; a results folder, for its newest; or FOLDER/ID."
              + " Default: the newest in --out.")
  private @Nullable String run;

  @Mixin private Options.Results results = new Options.Results();

  @Mixin private DocumentFormat format = new DocumentFormat();

  @Option(names = "--strict", description = "End with 1 if there is a trace.")
  private boolean strict;

  @Override
  public Integer call() {
    Contamination found = RunAudit.of(Home.here(), RunAudit.ledger(run, results.folder()));
    format.print(
        DocumentFormat.AsPublished.among(List.of()),
        Map.of("kind", "audit", "audit", found),
        () -> Document.of(ContaminationSection.of(found)));
    return strict && found.found() ? ExitCode.USAGE : ExitCode.OK;
  }
}

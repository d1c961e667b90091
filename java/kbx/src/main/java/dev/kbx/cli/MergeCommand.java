package dev.kbx.cli;

import dev.kbx.app.ResultsFolder;
import dev.kbx.store.RunStore;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx runs merge DIR… --out DIR}: copies the runs of several results folders into one. */
@Command(
    name = "merge",
    description = "Bring the runs of several results folders into one.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Runs are copied with their verdicts and sources (kbx.db; no other file). A run",
      "that is there already is skipped; a different one under the same id is",
      "refused, and then, as after an interrupt, nothing is copied."
    })
final class MergeCommand implements Callable<Integer> {
  @Parameters(paramLabel = "DIR", arity = "1..*", description = "Results folders to copy from.")
  private List<Path> folders = List.of();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      required = true,
      description = "The results folder that gets them; made where there is none.")
  private Path out = Path.of("");

  @Mixin private Options.JsonFlag json = new Options.JsonFlag();

  @Override
  public Integer call() throws Exception {
    try (var _ =
        new Interrupts("interrupted; " + out + " has all of the runs or none: 'kbx runs list'")) {
      print(ResultsFolder.merge(folders, out));
    }
    return ExitCode.OK;
  }

  private void print(List<RunStore.Copied> copied) {
    if (json.isAsked()) {
      Options.JsonFlag.print(copied.stream().map(MergeCommand::row).toList());
    } else {
      copied.forEach(MergeCommand::print);
    }
  }

  private static Map<String, Object> row(RunStore.Copied copied) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("from", copied.from());
    row.put("id", copied.run().id());
    row.put("device", copied.run().device());
    row.put("complete", copied.run().finished() != null);
    row.put("candidates", copied.run().candidates());
    row.put("judged", copied.verdicts());
    row.put("added", copied.added());
    return row;
  }

  private static String state(RunInfo run) {
    if (run.neverEnds()) return "service";
    return run.finished() == null ? "unfinished" : "complete";
  }

  private static void print(RunStore.Copied copied) {
    System.out.printf(
        "%-7s  %-20s  %-10s  %11s  %s%n",
        copied.added() ? "added" : "there",
        copied.run().id(),
        state(copied.run()),
        copied.run().neverEnds()
            ? copied.verdicts()
            : copied.verdicts() + "/" + copied.run().candidates(),
        copied.run().device().name());
  }
}

package dev.kbx.cli;

import dev.kbx.store.Merge;
import dev.kbx.verdict.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx runs merge DIR… --out DIR}: the runs of several results folders in one. */
@Command(
    name = "merge",
    description = "Bring the runs of several results folders into one.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Runs are copied with their verdicts and sources (kbx.db; no other file). A run",
      "that is there already is skipped; a different one under the same id is refused,",
      "and then, as after an interrupt, nothing is copied."
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

  @Option(names = "--json", description = "An array of the runs found, and whether each was added.")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    if (folders.size() > Merge.MOST) {
      throw new UserError(
          "runs merge: %d folders; at most %d at once, merge them in turns"
              .formatted(folders.size(), Merge.MOST));
    }
    List<Path> files = new ArrayList<>();
    for (Path folder : folders) files.add(database(folder));
    OutFolder.store(out).check();
    Path target = OutFolder.writable(out);
    List<Merge.Merged> merged;
    try (var _ =
            new Interrupts(
                "interrupted; " + out + " has all of the runs or none: 'kbx runs list'");
        var _ = FolderLock.of(target)) {
      merged = Merge.into(target.resolve("kbx.db"), files);
    }
    if (json) {
      System.out.println(
          Json.mapper()
              .writerWithDefaultPrettyPrinter()
              .writeValueAsString(merged.stream().map(MergeCommand::row).toList()));
    } else {
      merged.forEach(MergeCommand::print);
    }
    return ExitCode.OK;
  }

  private static Path database(Path folder) {
    Path file = folder.resolve("kbx.db");
    if (!Files.exists(file)) throw OutFolder.withoutRuns(folder);
    OutFolder.store(folder).check();
    return file;
  }

  private static Map<String, Object> row(Merge.Merged merged) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("from", merged.from().toString());
    row.put("id", merged.run().id());
    row.put("device", merged.run().device());
    row.put("complete", merged.run().finished() != null);
    row.put("candidates", merged.run().candidates());
    row.put("judged", merged.verdicts());
    row.put("added", merged.added());
    return row;
  }

  private static void print(Merge.Merged merged) {
    System.out.printf(
        "%-7s  %-20s  %-8s  %11s  %s%n",
        merged.added() ? "added" : "there",
        merged.run().id(),
        merged.run().finished() == null ? "cut off" : "complete",
        merged.verdicts() + "/" + merged.run().candidates(),
        merged.run().device().name());
  }
}

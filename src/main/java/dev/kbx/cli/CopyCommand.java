package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.document.Counted;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code kbx runs copy FROM TO}: copies runs between stores. */
@Command(
    name = "copy",
    description = "Copy runs from one store to another.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "FROM and TO are results folders, or jdbc:postgresql://HOST/DATABASE. Runs are",
      "copied with their verdicts and sources. A run that is there already is",
      "skipped; a different one under the same id is refused, and then nothing is",
      "copied."
    })
final class CopyCommand implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "FROM", description = "The store to copy from.")
  private String from = "";

  @Parameters(index = "1", paramLabel = "TO", description = "The store that gets the runs.")
  private String to = "";

  @Parameters(
      index = "2..*",
      paramLabel = "RUN",
      arity = "0..*",
      description = "Ids of runs. Default: all.")
  private List<String> ids = List.of();

  @Override
  public Integer call() throws Exception {
    StoreAddress source = address(from);
    if (!source.exists()) throw OutFolder.withoutRuns(folder(from));
    StoreAddress target = address(to);
    source.check();
    target.check();
    try (RunStore reading = RunStore.open(source)) {
      List<RunInfo> runs = ids.isEmpty() ? reading.runs().reversed() : chosen(reading);
      print(copy(new RunStore.Selection(reading, runs), target));
      return ExitCode.OK;
    }
  }

  private List<RunStore.Copied> copy(RunStore.Selection runs, StoreAddress target)
      throws Exception {
    if (target.isFile()) OutFolder.writable(to, folder(to));
    try (AutoCloseable _ = target.isFile() ? FolderLock.of(folder(to)) : () -> {};
        RunStore writing = RunStore.open(target)) {
      return writing.copy(List.of(runs));
    }
  }

  private static void print(List<RunStore.Copied> copied) {
    copied.forEach(run ->
        System.out.printf(
            "%-7s  %s  %s%n",
            run.added() ? "copied" : "there",
            run.run().id(),
            Counted.of(run.verdicts(), "verdict")));
  }

  private List<RunInfo> chosen(RunStore store) {
    return ids.stream()
        .distinct()
        .map(id ->
            store
                .run(id)
                .orElseThrow(
                    () -> new UserError("%s: no run %s there".formatted(store.label(), id))))
        .toList();
  }

  private static StoreAddress address(String text) {
    if (!text.startsWith("jdbc:")) return OutFolder.store(folder(text));
    try {
      return StoreAddress.of(text);
    } catch (IllegalArgumentException e) {
      throw new UserError(String.valueOf(e.getMessage()));
    }
  }

  /** A results folder, given by its path or by that of its kbx.db. */
  private static Path folder(String text) {
    Path path = Path.of(text);
    boolean file = Files.isRegularFile(path) && path.endsWith("kbx.db");
    return file ? requireNonNull(path.toAbsolutePath().getParent()) : path;
  }
}

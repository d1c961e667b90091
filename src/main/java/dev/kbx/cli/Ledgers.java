package dev.kbx.cli;

import dev.kbx.generate.Header;
import dev.kbx.generate.Ledger;
import dev.kbx.generate.Recorded;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The ledgers of a results folder. */
record Ledgers(Path folder) {
  /** An unfinished run. */
  record Found(String run, Path file, Recorded recorded) {}

  /** Where a run's ledger is. */
  static Path file(Path folder, String run) {
    return folder.resolve("runs").resolve(run).resolve(Ledger.NAME);
  }

  /**
   * The newest run of the same methods over the same tasks that is not complete.
   *
   * @param trajectories how many answers a complete run has
   * @param judged whether the run of an id with all answers is complete
   */
  Optional<Found> unfinished(Header wanted, int trajectories, Predicate<String> judged) {
    for (Path file : newestFirst()) {
      Header header = Ledger.header(file);
      if (!header.isSameRunAs(wanted)) continue;
      Recorded recorded = Recorded.read(file);
      if (recorded.answered() == trajectories && judged.test(header.run())) continue;
      header.refuseOther(wanted);
      return Optional.of(new Found(header.run(), file, recorded));
    }
    return Optional.empty();
  }

  /** The newest one. */
  Optional<Path> newest() {
    return newestFirst().stream().findFirst();
  }

  private List<Path> newestFirst() {
    Path runs = folder.resolve("runs");
    if (!Files.isDirectory(runs)) return List.of();
    try (Stream<Path> all = Files.list(runs)) {
      return all.map(run -> run.resolve(Ledger.NAME))
          .filter(Files::exists)
          .sorted(Comparator.<Path>naturalOrder().reversed())
          .toList();
    } catch (IOException e) {
      throw new UserError("%s: cannot be read: %s".formatted(runs, Reason.of(e)));
    }
  }
}

package dev.kbx.app;

import dev.kbx.generate.Header;
import dev.kbx.generate.Ledger;
import dev.kbx.generate.Recorded;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The ledgers of a results folder. */
public record Ledgers(Path folder) {
  /** A run to go on with. */
  record Found(Header header, Path file, Recorded recorded) {
    /** Itself. Throws if feedback would differ from that of its beginning. */
    private Found checked(Header wanted) {
      header.refuseOther(wanted);
      return this;
    }
  }

  /** Where a run's ledger is. */
  public static Path file(Path folder, String run) {
    return folder.resolve("runs").resolve(run).resolve(Ledger.NAME);
  }

  /**
   * The newest run of the same methods over the same tasks, preferably one that lacks answers.
   *
   * @param trajectories how many answers a complete run has
   */
  Optional<Found> earlier(Header wanted, int trajectories) {
    Found complete = null;
    for (Path file : newestFirst()) {
      Header header = Ledger.header(file);
      if (!header.isSameRunAs(wanted)) continue;
      Recorded recorded = Recorded.read(file);
      Found found = new Found(header, file, recorded);
      if (recorded.answered() < trajectories) return Optional.of(found.checked(wanted));
      if (complete == null) complete = found;
    }
    return Optional.ofNullable(complete).map(found -> found.checked(wanted));
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
      throw new UserError("%s: cannot be read: %s".formatted(runs, Reason.of(e)), e);
    }
  }
}

package dev.kbx.cli;

import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Location of runs and verdicts: the results folder, or a team's database. */
final class StoreOption {
  private static final String VARIABLE = "KBX_STORE";

  @Option(
      names = "--store",
      paramLabel = "URL",
      description =
          "PostgreSQL database for runs and verdicts, jdbc:postgresql://HOST/DATABASE. Default:"
              + " $KBX_STORE, else kbx.db in --out.")
  private @Nullable String url;

  /** The store of a results folder, unless a database was named. */
  StoreAddress address(Path out) {
    String named = url != null ? url : System.getenv(VARIABLE);
    if (named == null || named.isEmpty()) return OutFolder.store(out);
    try {
      return StoreAddress.of(named);
    } catch (IllegalArgumentException e) {
      throw new UserError((url != null ? "--store " : VARIABLE + " ") + e.getMessage());
    }
  }

  RunStore open(Path out) {
    return RunStore.open(address(out));
  }

  Optional<RunStore> openExisting(Path out) {
    return RunStore.openExisting(address(out));
  }
}

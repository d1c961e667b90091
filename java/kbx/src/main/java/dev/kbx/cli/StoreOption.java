package dev.kbx.cli;

import dev.kbx.app.ResultsFolder;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Location of runs and verdicts: the results folder, or a team's database. */
final class StoreOption {
  @Option(
      names = "--store",
      paramLabel = "URL",
      description =
          "PostgreSQL database for runs and verdicts, jdbc:postgresql://HOST/DATABASE. Default:"
              + " $KBX_STORE, else kbx.db in --out.")
  private @Nullable String url;

  /** A results folder with its store. */
  ResultsFolder of(Path out) {
    return ResultsFolder.of(out, url);
  }
}

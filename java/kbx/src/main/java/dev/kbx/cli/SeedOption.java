package dev.kbx.cli;

import dev.kbx.app.Home;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Seed of the values of inputs and weights. */
final class SeedOption {
  @Option(
      names = "--seed",
      paramLabel = "TEXT",
      converter = Values.Text.class,
      description =
          "Seed of all inputs. Default: a secret of this installation, so that no candidate can"
              + " predict them.")
  private @Nullable String seed;

  /** The given seed. */
  Optional<String> given() {
    return Optional.ofNullable(seed);
  }

  /** The given seed, else the secret of this installation. */
  String seed() {
    return seed == null ? Home.here().secret() : seed;
  }
}

package dev.kbx.cli;

import dev.kbx.app.UserError;
import dev.kbx.verdict.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The names that {@code --stages} takes. */
final class Stages {
  static final String ALL = "static,compile,call,correct,perf";

  private Stages() {}

  /** Those named, in the order given. Throws {@link UserError}. */
  static List<Stage> of(List<String> names) {
    List<Stage> wanted = new ArrayList<>();
    for (String name : names) {
      try {
        wanted.add(Stage.valueOf(name.strip().toUpperCase(Locale.ROOT)));
      } catch (IllegalArgumentException e) {
        throw new UserError("--stages: '%s' is not one of %s".formatted(name, ALL));
      }
    }
    return wanted;
  }
}

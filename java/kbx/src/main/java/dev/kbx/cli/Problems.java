package dev.kbx.cli;

import dev.kbx.document.Counted;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Prints problems with sources on stderr. */
final class Problems {
  /** Maximum number of printed problems; more would scroll other output out of sight. */
  private static final int SHOWN = 20;

  private Problems() {}

  /** Prints a line for each, and the number of further ones. */
  static void print(List<String> problems) {
    problems.stream()
        .limit(SHOWN)
        .forEach(problem -> System.err.println("kbx: " + problem.replace("\n", "\\n")));
    if (problems.size() > SHOWN) {
      System.err.println("kbx: ... and %,d more like these".formatted(problems.size() - SHOWN));
    }
  }

  /**
   * Reminds of the problems at the end of the output, if there are any.
   *
   * @param all the file with all of them; null if there is none
   */
  static void recall(List<String> problems, @Nullable Path all) {
    if (problems.isEmpty()) return;
    String named = problems.size() > SHOWN ? "the first %d are named".formatted(SHOWN) : "named";
    System.err.println(
        "kbx: %s with the sources (%s above%s)"
            .formatted(
                Counted.of(problems.size(), "problem"),
                named,
                all == null ? "" : ", all in " + all));
  }
}

package dev.kbx.cli;

import dev.kbx.report.Counted;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What could not be used of the sources, on stderr. */
final class Problems {
  /** More of them push what else was said out of sight, and are mostly of one kind. */
  private static final int SHOWN = 20;

  private Problems() {}

  /** Prints a line each, and how many more there are. */
  static void print(List<String> problems) {
    problems.stream().limit(SHOWN).forEach(problem -> System.err.println("kbx: " + problem));
    if (problems.size() > SHOWN) {
      System.err.println("kbx: ... and %,d more like these".formatted(problems.size() - SHOWN));
    }
  }

  /**
   * Recalls them after what scrolled them out of sight; nothing where there are none.
   *
   * @param all where all of them stand; null where nothing but stderr has them
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

package dev.kbx.cli;

import java.util.List;

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
}

package dev.kbx.cli;

import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import java.util.function.Predicate;
import picocli.CommandLine.Option;

/** The suite of commands that need tasks and run none. */
final class SuiteOption {
  @Option(
      names = "--suite",
      paramLabel = "SUITE",
      defaultValue = Suites.DEFAULT,
      description =
          "kernelbenchx, kernelbench, or a folder of task files. Default: ${DEFAULT-VALUE}.")
  private String suite = Suites.DEFAULT;

  /** Opens the suite and says which of its files cannot be used. */
  Suite open() {
    return open(_ -> true);
  }

  /** Opens those tasks of the suite whose names are wanted. */
  Suite open(Predicate<String> wanted) {
    Suite opened = Suites.open(suite, Home.tasks(), wanted);
    opened.broken().forEach(problem -> System.err.println("kbx: " + problem));
    return opened;
  }
}

package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.task.BrokenTask;
import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;
import picocli.CommandLine.Option;

/** The suite option of commands that run no tasks. */
final class SuiteOption {
  @Option(
      names = "--suite",
      paramLabel = "SUITE",
      defaultValue = Suites.DEFAULT,
      description =
          "kernelbenchx, kernelbench, or a folder of task files. Default: ${DEFAULT-VALUE}.")
  private String suite = Suites.DEFAULT;

  private final Set<String> told = new HashSet<>();

  /** Opens the suite and reports, once, its unusable files. */
  Suite open() {
    return open(_ -> true);
  }

  /** Opens only the tasks of the suite whose names are wanted. */
  Suite open(Predicate<String> wanted) {
    Suite opened = Home.here().suite(suite, wanted);
    for (BrokenTask problem : opened.broken()) {
      if (told.add(problem.toString())) System.err.println("kbx: " + problem);
    }
    return opened;
  }
}

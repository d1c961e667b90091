package dev.kbx.cli;

import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import picocli.CommandLine.Option;

/** The suite of every {@code kbx tasks} subcommand. */
final class SuiteOption {
  @Option(
      names = "--suite",
      paramLabel = "SUITE",
      defaultValue = "kernelbenchx",
      description = "kernelbenchx, or a folder of task files. Default: ${DEFAULT-VALUE}.")
  private String suite = "kernelbenchx";

  /** Opens the suite and says which of its files cannot be used. */
  Suite open() {
    Suite opened = Suites.open(suite, Home.tasks());
    opened.broken().forEach(problem -> System.err.println("kbx: " + problem));
    return opened;
  }
}

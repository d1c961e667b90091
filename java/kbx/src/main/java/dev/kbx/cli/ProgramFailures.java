package dev.kbx.cli;

import dev.kbx.generate.Ledger;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.TrajectoryRecord;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

/** Programs of external methods that failed, as a ledger has it. */
final class ProgramFailures {
  private ProgramFailures() {}

  /**
   * Says in a line which program failed, and how often.
   *
   * @return {@link ExitCode#INCOMPLETE} if one failed in all its trajectories: a run that says
   *     nothing about its method is not complete
   */
  static int report(Path ledger, PrintStream err) {
    List<TrajectoryRecord> all = TrajectoryRecord.read(ledger);
    int exit = ExitCode.OK;
    for (MethodSettings method : Ledger.header(ledger).methods()) {
      List<TrajectoryRecord> own =
          all.stream().filter(each -> each.unit().method().equals(method.name())).toList();
      List<TrajectoryRecord> failed =
          own.stream().filter(each -> each.programFailure() != null).toList();
      if (failed.isEmpty()) continue;
      boolean always = failed.size() == own.size();
      err.printf(
          "kbx: %s: the program failed in %d of %d trajectories, in the last one: %s; %s%n",
          method.name(),
          failed.size(),
          own.size(),
          failed.getLast().programFailure(),
          always
              ? "correct it and begin a new run, without --resume"
              : "the ledger has each failure");
      if (always) exit = ExitCode.INCOMPLETE;
    }
    return exit;
  }
}

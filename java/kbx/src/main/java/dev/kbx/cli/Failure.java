package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.analysis.IncomparableRuns;
import dev.kbx.app.MethodRun;
import dev.kbx.app.Reason;
import dev.kbx.app.UserError;
import dev.kbx.candidate.ChangedFile;
import dev.kbx.check.UnknownRule;
import dev.kbx.cluster.ClusterProblem;
import dev.kbx.device.DeviceLost;
import dev.kbx.files.UnreadableException;
import dev.kbx.files.UnwritableException;
import dev.kbx.generate.Generation;
import dev.kbx.generate.InvalidLedger;
import dev.kbx.llm.InvalidModels;
import dev.kbx.llm.ModelFailure;
import dev.kbx.prompt.InvalidPrompt;
import dev.kbx.python.PythonProblem;
import dev.kbx.store.RunConflict;
import dev.kbx.store.StoreProblem;
import dev.kbx.task.InvalidSuite;
import dev.kbx.task.UnknownTask;
import dev.kbx.worker.WorkerFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Exit code and message for an exception of a command.
 *
 * @param exit as in {@link ExitCode}
 * @param message one line, or several with output of Python
 */
record Failure(int exit, String message) {
  static Failure of(Exception e) {
    if (Reason.isOfTheMachine(e)) return incomplete(e);
    return switch (e) {
      case UserError _,
          InvalidSuite _,
          UnknownTask _,
          UnknownRule _,
          IncomparableRuns _,
          InvalidModels _,
          UnreadableException _,
          RunConflict _,
          InvalidLedger _,
          InvalidPrompt _ ->
          new Failure(ExitCode.USAGE, String.valueOf(e.getMessage()));
      case PythonProblem problem -> new Failure(ExitCode.USAGE, lines(problem));
      case StoreProblem _,
          UnwritableException _,
          ChangedFile _,
          ModelFailure _,
          ClusterProblem _,
          MethodRun.Incomplete _ ->
          new Failure(ExitCode.INCOMPLETE, String.valueOf(e.getMessage()));
      case DeviceLost _ ->
          new Failure(
              ExitCode.INCOMPLETE, e.getMessage() + "; --resume goes on when it does again");
      case Generation.Outage _ ->
          new Failure(ExitCode.INCOMPLETE, e.getMessage() + "; --resume goes on when it answers");
      case WorkerFailure _ ->
          new Failure(ExitCode.INCOMPLETE, e.getMessage() + "; 'kbx doctor' looks at this machine");
      default ->
          new Failure(ExitCode.INCOMPLETE, e + " (a fault of kbx: --stack-trace shows where)");
    };
  }

  /** Whatever noticed it: a full disk is met by all that write. */
  private static Failure incomplete(Exception e) {
    String message =
        switch (e) {
          case IOException io -> Reason.of(io);
          case UncheckedIOException io -> Reason.of(requireNonNull(io.getCause()));
          default -> String.valueOf(e.getMessage());
        };
    return new Failure(ExitCode.INCOMPLETE, message);
  }

  private static String lines(PythonProblem problem) {
    return Stream.concat(Stream.of(problem.getMessage()), problem.details().stream())
        .collect(Collectors.joining("\n  "));
  }
}

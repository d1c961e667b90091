package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.app.Reason;
import dev.kbx.device.DeviceLost;
import dev.kbx.error.EnvironmentException;
import dev.kbx.error.InputException;
import dev.kbx.error.KbxException;
import dev.kbx.generate.Generation;
import dev.kbx.llm.ModelFailure;
import dev.kbx.python.PythonProblem;
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
      case KbxException known -> new Failure(exit(known), message(known));
      case ModelFailure _ -> new Failure(ExitCode.INCOMPLETE, String.valueOf(e.getMessage()));
      default ->
          new Failure(ExitCode.INCOMPLETE, e + " (a fault of kbx: --stack-trace shows where)");
    };
  }

  private static int exit(KbxException e) {
    return switch (e) {
      case InputException _ -> ExitCode.USAGE;
      case EnvironmentException _ -> ExitCode.INCOMPLETE;
    };
  }

  private static String message(KbxException e) {
    return switch (e) {
      case PythonProblem problem -> lines(problem);
      case DeviceLost _ -> e.getMessage() + "; --resume goes on when it does again";
      case Generation.Outage _ -> e.getMessage() + "; --resume goes on when it answers";
      case WorkerFailure _ -> e.getMessage() + "; 'kbx doctor' looks at this machine";
      default -> String.valueOf(e.getMessage());
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

package dev.kbx.generate;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * How the program of an external method is started, once for each trajectory.
 *
 * @param words the program and its arguments
 * @param timeout how long it may take for an answer
 * @param redact replaces keys in what it says
 * @param environment which of this process's environment variables it gets
 */
public record ProgramCommand(
    List<String> words,
    Duration timeout,
    UnaryOperator<String> redact,
    Predicate<String> environment) {
  public ProgramCommand {
    words = List.copyOf(words);
  }

  /** This command with other words. */
  public ProgramCommand with(List<String> others) {
    return new ProgramCommand(others, timeout, redact, environment);
  }
}

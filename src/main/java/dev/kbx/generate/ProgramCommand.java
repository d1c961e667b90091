package dev.kbx.generate;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * How the program of an external method is started, once for each trajectory.
 *
 * @param words the program and its arguments
 * @param timeout how long it may take for an answer
 * @param redact replaces keys in what it says
 */
public record ProgramCommand(List<String> words, Duration timeout, UnaryOperator<String> redact) {
  public ProgramCommand {
    words = List.copyOf(words);
  }
}

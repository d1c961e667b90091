package dev.kbx.generate;

import dev.kbx.llm.ChatModel;
import dev.kbx.llm.Price;
import dev.kbx.method.Method;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.task.Task;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A method of a run with what it needs.
 *
 * @param model answers its prompts
 * @param requests as many as may be in flight; methods with the same model share it
 * @param start the kernel to begin from for a task, if there is one
 * @param speedups those of the ledger that the model replays
 * @param program of an external method; null for others
 */
public record PreparedMethod(
    MethodSettings settings,
    Method method,
    ChatModel model,
    Optional<Price> price,
    Semaphore requests,
    PromptWriter writer,
    Function<Task, Optional<String>> start,
    RecordedSpeedups speedups,
    @Nullable ProgramCommand program) {

  Method.Assignment assignment(Task task) {
    return new Method.Assignment(task, writer, start.apply(task).orElse(null));
  }

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
}

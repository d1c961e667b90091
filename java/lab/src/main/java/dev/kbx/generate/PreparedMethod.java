package dev.kbx.generate;

import dev.kbx.llm.ChatModel;
import dev.kbx.llm.ModelGateway;
import dev.kbx.llm.Price;
import dev.kbx.method.Method;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.task.Task;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
   * @param cage how it is shut in; null for one that runs as the user
   */
  public record ProgramCommand(
      List<String> words,
      Duration timeout,
      UnaryOperator<String> redact,
      Predicate<String> environment,
      @Nullable Cage cage) {
    public ProgramCommand {
      words = List.copyOf(words);
    }

    /** One that runs as the user. */
    public ProgramCommand(
        List<String> words,
        Duration timeout,
        UnaryOperator<String> redact,
        Predicate<String> environment) {
      this(words, timeout, redact, environment, null);
    }

    /** This command with other words. */
    public ProgramCommand with(List<String> others) {
      return new ProgramCommand(others, timeout, redact, environment, cage);
    }

    /** This command, shut in. */
    public ProgramCommand in(Cage other) {
      return new ProgramCommand(words, timeout, redact, environment, other);
    }
  }

  /**
   * The sandbox of an agent.
   *
   * @param launcher the command that makes it
   * @param visible files and folders that the program needs, read-only
   * @param hidden folders that it must not see even within those
   * @param path folders of programs, as the variable has them
   * @param environment variables beside those that every agent gets
   * @param tools programs that kbx gives it, by name
   * @param settings files in its home folder, by path
   * @param uid user that it runs as if kbx is root
   * @param memoryBytes of all its processes
   * @param fileBytes of all its files
   * @param processes at most
   * @param gateway to its model; null if it has none
   */
  public record Cage(
      List<String> launcher,
      List<String> visible,
      List<String> hidden,
      List<String> path,
      Map<String, String> environment,
      Map<String, String> tools,
      Map<String, String> settings,
      int uid,
      long memoryBytes,
      long fileBytes,
      int processes,
      @Nullable ModelGateway gateway) {
    public Cage {
      launcher = List.copyOf(launcher);
      visible = List.copyOf(visible);
      hidden = List.copyOf(hidden);
      path = List.copyOf(path);
      environment = Map.copyOf(environment);
      tools = Map.copyOf(tools);
      settings = Map.copyOf(settings);
    }
  }
}

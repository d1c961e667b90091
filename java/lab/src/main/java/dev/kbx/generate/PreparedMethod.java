package dev.kbx.generate;

import dev.kbx.llm.ChatModel;
import dev.kbx.llm.Price;
import dev.kbx.method.Assignment;
import dev.kbx.method.Method;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.task.Task;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
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

  Assignment assignment(Task task) {
    return new Assignment(task, writer, start.apply(task).orElse(null));
  }
}

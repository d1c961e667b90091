package dev.kbx.method;

import dev.kbx.prompt.PromptWriter;
import dev.kbx.task.Task;
import org.jspecify.annotations.Nullable;

/**
 * A way of writing kernels. Implementations are pure: the same assignment and history give the same
 * result, always.
 */
public interface Method {
  /** What to do after this history: at least one open step, or the answer. */
  Next next(Assignment assignment, History history);

  /** The answer when a budget allows no further step. */
  default Next.Answer answer(Assignment assignment, History history) {
    return Selections.best(history);
  }

  /** The most requests that one trajectory makes. */
  int mostCalls();

  /**
   * What one trajectory works at.
   *
   * @param writer makes its prompts
   * @param start a kernel to mend or to make faster; null to start from nothing
   */
  public record Assignment(Task task, PromptWriter writer, @Nullable String start) {}
}

package dev.kbx.cli;

import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.method.Assignment;
import dev.kbx.method.History;
import dev.kbx.method.Next;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.python.PythonProblem;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** {@code kbx generate --show-prompt TASK}. */
final class ShownPrompt {
  private ShownPrompt() {}

  /** Prints what a method would send first. */
  static void print(
      GenerationFlags flags,
      WorkerOptions workers,
      MethodFlags method,
      Suite suite,
      List<Task> tasks)
      throws InterruptedException, PythonProblem {
    method.check(tasks);
    flags.check(tasks);
    Plan plan = flags.heldOut();
    boolean hardware = method.conditions(plan, tasks.getFirst()).hardware();
    try (WorkerPool pool =
        hardware ? WorkerPool.start(workers) : WorkerPool.withoutPython(workers)) {
      for (Task task : tasks) {
        PromptWriter writer =
            new PromptWriter(
                flags.prompts(), method.conditions(plan, task), pool.device(), pool.peaks());
        String start =
            StartingKernels.of(method.from(), flags.out, suite, List.of(task))
                .apply(task)
                .orElse(null);
        print(method, task, start, writer);
      }
    }
  }

  private static void print(
      MethodFlags method, Task task, @Nullable String start, PromptWriter writer) {
    Assignment assignment = new Assignment(task, writer, start);
    Next next = method.options().open().next(assignment, History.empty());
    if (next instanceof Next.Work work && !work.asks().isEmpty()) {
      work.asks().getFirst().messages().forEach(ShownPrompt::print);
    } else if (next instanceof Next.Work work && work.consultation() != null) {
      writer.first(task, start).forEach(turn -> print(turn.role(), turn.text()));
    } else {
      System.err.println(
          "kbx: this method judges the kernel of --from first; it sends nothing before");
    }
  }

  private static void print(Message message) {
    print(message.role().name().toLowerCase(Locale.ROOT), message.text());
  }

  private static void print(String role, String text) {
    System.out.printf("--- %s%n%s%n", role, text.stripTrailing());
  }
}

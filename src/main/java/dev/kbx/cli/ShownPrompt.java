package dev.kbx.cli;

import dev.kbx.llm.ChatMessage;
import dev.kbx.method.Assignment;
import dev.kbx.method.History;
import dev.kbx.method.Next;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.python.PythonProblem;
import dev.kbx.task.Task;
import java.util.List;
import java.util.Locale;

/** {@code kbx generate --show-prompt TASK}. */
final class ShownPrompt {
  private ShownPrompt() {}

  /** Prints what a method would send first. */
  static void print(
      GenerationFlags flags, WorkerOptions workers, MethodFlags method, List<Task> tasks)
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
        print(method, task, writer);
      }
    }
  }

  private static void print(MethodFlags method, Task task, PromptWriter writer) {
    String start = StartingKernels.of(method.from(), List.of(task)).apply(task).orElse(null);
    Assignment assignment = new Assignment(task, writer, start);
    Next next = method.options().open().next(assignment, History.empty());
    if (next instanceof Next.Work work && !work.asks().isEmpty()) {
      work.asks().getFirst().messages().forEach(ShownPrompt::print);
    } else {
      System.err.println(
          "kbx: this method judges the kernel of --from first; it sends nothing before");
    }
  }

  private static void print(ChatMessage message) {
    System.out.printf(
        "--- %s%n%s%n",
        message.role().name().toLowerCase(Locale.ROOT), message.text().stripTrailing());
  }
}

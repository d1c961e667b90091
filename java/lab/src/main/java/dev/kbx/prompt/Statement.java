package dev.kbx.prompt;

import dev.kbx.plan.Grade;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import dev.kbx.task.Policy;
import dev.kbx.task.Precision;
import dev.kbx.task.PublishedCalls;
import dev.kbx.task.Sizes;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a task asks for, as Markdown, in the words of {@code prompts/statement/}: the statement, the
 * signature, the reference, the sizes and what an answer must be.
 */
public final class Statement {
  private final Prompts prompts;

  public Statement(Prompts prompts) {
    this.prompts = prompts;
  }

  /** The prompts that its words are from. */
  public Prompts prompts() {
    return prompts;
  }

  /**
   * The statement for a kernel that is to take all that the operation accepts; ends with a line
   * break.
   *
   * @param policy says who may compute the result
   * @param cast PyTorch's name of the dtype that the task's module is cast to; null if it is not
   */
  public String general(Task task, Policy policy, @Nullable String cast) {
    return text(task, policy, false, cast);
  }

  /**
   * The statement with what the calls of the published grade ask for. The two are equal for a task
   * without such calls of their own.
   */
  public String published(Task task, Policy policy, @Nullable String cast) {
    return text(task, policy, true, cast);
  }

  /** The statement for the calls that a grade decides by; parameters as of {@link #general}. */
  public String of(Task task, Policy policy, Grade grade, @Nullable String cast) {
    return switch (grade) {
      case PUBLISHED -> published(task, policy, cast);
      case GENERAL -> general(task, policy, cast);
    };
  }

  /**
   * What a judgement says about a kernel, to its author: the outcome, what is wrong and where, and
   * the times with what bounds them. Markdown without a heading.
   */
  public String feedback(Task task, String code, Judgement judgement) {
    return Feedback.text(task, code, judgement, FeedbackKind.PROFILE, prompts).strip();
  }

  private String text(Task task, Policy policy, boolean published, @Nullable String cast) {
    Optional<PublishedCalls> calls = PublishedCalls.of(task);
    Sizes sizes = Sizes.of(task);
    String inputs = Sizes.joined(sizes.inputs(), ": ");
    String code = task.reference().strip();
    Map<String, Object> values = new HashMap<>();
    values.put("name", task.name());
    values.put("text", task.statement().strip());
    values.put("deciding", published && calls.isPresent());
    calls.map(PublishedCalls::values).ifPresent(values::putAll);
    values.put("special", calls.isPresent());
    values.put("cast", cast == null ? "" : cast(cast));
    values.put("signature", task.isModule() ? task.signature() : "def " + task.signature() + ":");
    // Imported functions have a signature in place of the reference.
    values.put("code", code.endsWith(": ...") ? "" : code);
    values.put("sizes", !sizes.isEmpty());
    values.put("module", task.isModule());
    values.put("stated", sizes.stated());
    values.put("constructor", Sizes.joined(sizes.constructor(), "="));
    values.put("inputs", cast == null ? inputs : inputs.replace("float32 (", cast + " ("));
    values.put("entry", task.entry());
    values.put("policy", policy(task, policy));
    values.put("float32", cast == null && Precision.of(task) == Precision.FLOAT32);
    return prompts.render("statement/task", values);
  }

  /** What a cast means for who writes a kernel; begins and ends with a line break. */
  String cast(String dtype) {
    return prompts.render("statement/cast", Map.of("dtype", dtype, "entry", Task.MODULE));
  }

  /** Who may compute the result, in a paragraph that ends with a line break; may be empty. */
  public String policy(Task task, Policy policy) {
    return prompts.render(
        "statement/policy",
        Map.of(
            "kernel", policy == Policy.KERNEL,
            "mixed", policy == Policy.MIXED,
            "cpp", task.takesCpp()));
  }
}

package dev.kbx.task;

import static java.util.stream.Collectors.joining;

import org.jspecify.annotations.Nullable;

/** The prompt of a task. */
public final class Prompt {
  /** Said once, since statements are about the calls that decide. */
  private static final String SPECIAL_VALUES =
      """

      Calls with NaN or infinities may be made, too. They decide nothing, whatever is said of such values
      above: what fails there is reported.
      """;

  private Prompt() {}

  /**
   * Markdown with the statement, the signature, the reference, the sizes and what an answer must
   * be; ends with a line break. A kernel written from it is to take all that the operation accepts.
   *
   * @param policy says who may compute the result
   * @param cast PyTorch's name of the dtype that the task's module is cast to; null if it is not
   */
  public static String general(Task task, Policy policy, @Nullable String cast) {
    String grade = PublishedCalls.of(task).map(_ -> SPECIAL_VALUES).orElse("");
    return text(task, policy, grade, cast);
  }

  /**
   * The same with what the calls of the published grade ask for. The two are equal for a task
   * without such calls of their own.
   */
  public static String published(Task task, Policy policy, @Nullable String cast) {
    String grade = PublishedCalls.of(task).map(Prompt::arguments).orElse("");
    return text(task, policy, grade, cast);
  }

  /** What a cast means for who writes a kernel; begins and ends with a line break. */
  public static String cast(String dtype) {
    return """

    ## Precision

    Judged in %1$s, whatever is said of float32: `Model` and `%2$s` are constructed in float32 and cast by
    `.to(torch.%1$s)`, weights and buffers, and so are all floating-point inputs. Results are %1$s, too. Integers and masks stay
    what they are. Results may err as much as those of the cast reference, which adds up in float32: do so, too.
    """
        .formatted(dtype, Task.MODULE);
  }

  private static String arguments(PublishedCalls calls) {
    String lines = calls.lines().stream().map(line -> "- " + line + "\n").collect(joining());
    return """

    ## Arguments that decide

    The statement above is about all that the operation accepts. Whether a kernel is correct is decided by
    calls that ask for less:

    %s
    Calls with other arguments are made as well, and calls whose values are mostly tiny, large or zero. What
    fails there is reported and decides nothing.
    """
            .formatted(lines)
        + SPECIAL_VALUES;
  }

  private static String text(Task task, Policy policy, String grade, @Nullable String cast) {
    return """
    # %s

    %s
    %s%s
    ## Signature

    ```python
    %s
    ```
    %s%s
    ## Answer

    Write one Python file that defines `%s` with this signature.
    %s%s\
    """
        .formatted(
            task.name(),
            task.statement().strip(),
            grade,
            cast == null ? "" : cast(cast),
            task.isModule() ? task.signature() : "def " + task.signature() + ":",
            reference(task),
            sizes(task, cast),
            task.entry(),
            policy.text(task),
            cast == null ? Precision.of(task).text() : "");
  }

  private static String sizes(Task task, @Nullable String cast) {
    Sizes sizes = Sizes.of(task);
    if (sizes.isEmpty()) return "";
    StringBuilder text = new StringBuilder("\n## Sizes\n\n");
    text.append(
        task.isModule()
            ? "Judged and timed on a GPU at:\n\n"
            : "Timed on a GPU at these sizes; judged at others, too:\n\n");
    sizes.stated().forEach(stated -> text.append("- `").append(stated).append("`\n"));
    line(text, "constructor", Sizes.joined(sizes.constructor(), "="));
    String inputs = Sizes.joined(sizes.inputs(), ": ");
    line(text, "inputs", cast == null ? inputs : inputs.replace("float32 (", cast + " ("));
    return text.toString();
  }

  private static void line(StringBuilder text, String what, String value) {
    if (!value.isEmpty()) text.append("- %s: `%s`\n".formatted(what, value));
  }

  /** Imported functions have a signature in place of the reference. */
  private static String reference(Task task) {
    String code = task.reference().strip();
    if (code.endsWith(": ...")) return "";
    return """

    ## Reference

    ```python
    %s
    ```
    """
        .formatted(code);
  }
}

package dev.kbx.task;

/** The prompt of a task. */
public final class Prompt {
  private Prompt() {}

  /**
   * Markdown with the statement, the signature, the reference, the sizes and what an answer must
   * be; ends with a line break.
   */
  public static String of(Task task) {
    return """
    # %s

    %s

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
            task.isModule() ? task.signature() : "def " + task.signature() + ":",
            reference(task),
            sizes(task),
            task.entry(),
            Policy.of(task).text(),
            Precision.of(task).text());
  }

  private static String sizes(Task task) {
    Sizes sizes = Sizes.of(task);
    if (sizes.isEmpty()) return "";
    StringBuilder text = new StringBuilder("\n## Sizes\n\n");
    text.append(
        task.isModule()
            ? "Judged and timed on a GPU at:\n\n"
            : "Timed on a GPU at these sizes; judged at others, too:\n\n");
    sizes.stated().forEach(stated -> text.append("- `").append(stated).append("`\n"));
    line(text, "constructor", Sizes.joined(sizes.constructor(), "="));
    line(text, "inputs", Sizes.joined(sizes.inputs(), ": "));
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

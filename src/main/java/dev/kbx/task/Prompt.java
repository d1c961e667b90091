package dev.kbx.task;

/** A task as a model is asked to solve it. */
public final class Prompt {
  private Prompt() {}

  /**
   * Markdown with the statement, the signature, the reference and what an answer must be; ends with
   * a line break.
   */
  public static String of(Task task) {
    return """
    # %s

    %s

    ## Signature

    ```python
    %s
    ```
    %s
    ## Answer

    Write one Python file that defines `%s` with this signature.
    %s\
    """
        .formatted(
            task.name(),
            task.statement().strip(),
            task.isModule() ? task.signature() : "def " + task.signature() + ":",
            reference(task),
            task.entry(),
            Policy.of(task).text());
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

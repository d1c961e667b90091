package dev.kbx.cli;

import dev.kbx.app.UserError;
import dev.kbx.plan.Grade;
import picocli.CommandLine.Option;

/** {@code --grade}, of commands that judge candidates. */
final class GradeOption {
  @Option(
      names = "--grade",
      paramLabel = "GRADE",
      defaultValue = "published",
      description =
          "Calls that decide: published (what the published tests of the task, or the inputs of a"
              + " --reference, ask for), or general (whatever the operation accepts). Both are"
              + " made, and what breaks is listed. Default: ${DEFAULT-VALUE}.")
  private String grade = "published";

  /** Throws if there is no such grade. */
  Grade grade() {
    return parse(grade);
  }

  /** The grade of that name. Throws UserError if there is none. */
  static Grade parse(String name) {
    return Grade.of(name)
        .orElseThrow(
            () -> new UserError("--grade: '%s' is not one of published,general".formatted(name)));
  }
}

package dev.kbx.cli;

import dev.kbx.plan.Grade;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Values of {@code --grade}. */
final class GradeNames {
  private GradeNames() {}

  /** The grade of that name. Throws UserError if there is none. */
  static Grade parse(String name) {
    return Grade.of(name).orElseThrow(() -> unknown(name));
  }

  private static UserError unknown(String name) {
    String known = Arrays.stream(Grade.values()).map(Grade::label).collect(Collectors.joining(","));
    return new UserError("--grade: '%s' is not one of %s".formatted(name, known));
  }
}

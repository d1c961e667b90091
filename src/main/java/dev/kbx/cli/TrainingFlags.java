package dev.kbx.cli;

import dev.kbx.task.Policy;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of {@code kbx export training}. */
final class TrainingFlags {
  @Option(
      names = "--grade",
      paramLabel = "GRADE",
      description =
          "training: kernels that are right at this grade, published or general. Default: the one"
              + " that the run was judged at.")
  private @Nullable String grade;

  @Option(
      names = "--min-speedup",
      paramLabel = "X",
      description =
          "training: kernels whose speedup is at least X with confidence: the lower end of its"
              + " interval.")
  private @Nullable Double least;

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      description = "training: kernels judged under this policy, kernel or mixed.")
  private @Nullable String policy;

  @Option(
      names = "--near-duplicates",
      description =
          "training: also kernels of a task that differ in names, constants and layout alone. By"
              + " default the fastest of them is kept.")
  private boolean duplicates;

  @Option(
      names = "--licence",
      paramLabel = "TEXT",
      description = "training: licence of the kernels, such as an SPDX name, for every example.")
  private @Nullable String licence;

  /** The filter. Throws for values that no verdict can have. */
  TrainingFilter filter() {
    if (least != null && !(least > 0 && least < Double.POSITIVE_INFINITY)) {
      throw new UserError("--min-speedup %s: is no speedup, such as 1.2".formatted(least));
    }
    if (policy != null && Policy.of(policy).isEmpty()) {
      throw new UserError("--policy: '%s' is not one of kernel,mixed".formatted(policy));
    }
    return new TrainingFilter(
        grade == null ? null : GradeOption.parse(grade), least, policy, duplicates);
  }

  @Nullable String licence() {
    return licence;
  }

  /** Throws if one of these was given for another format. */
  void refuse(String format) {
    boolean any = grade != null || least != null || policy != null || licence != null || duplicates;
    if (!any) return;
    throw new UserError(
        "export %s: --grade, --min-speedup, --policy, --near-duplicates and --licence are for the format training"
            .formatted(format));
  }

  /** {@code not correct 3, speedup 1}; {@code none} if nothing is left out. */
  static String words(Map<String, Integer> leftOut) {
    String words =
        leftOut.entrySet().stream()
            .filter(entry -> entry.getValue() > 0)
            .map(entry -> entry.getKey() + " " + entry.getValue())
            .collect(Collectors.joining(", "));
    return words.isEmpty() ? "none" : words;
  }
}

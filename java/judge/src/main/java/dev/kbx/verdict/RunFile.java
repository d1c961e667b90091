package dev.kbx.verdict;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a kernel in one of KernelBench's run folders: {@code
 * level_1_problem_19_sample_0_kernel.py}.
 */
public record RunFile(TaskNumber task, int sample) {
  /** A number without leading zeros, as KernelBench writes it. */
  private static final String NUMBER = "(0|[1-9]\\d{0,8})";

  private static final Pattern NAME =
      Pattern.compile(
          "level_" + NUMBER + "_problem_" + NUMBER + "_sample_" + NUMBER + "_kernel\\.py");

  /** Parses a file's name, without folders; empty for any other name. */
  public static Optional<RunFile> parse(String name) {
    Matcher matcher = NAME.matcher(name);
    if (!matcher.matches()) return Optional.empty();
    TaskNumber task = new TaskNumber(number(matcher, 1), number(matcher, 2));
    return Optional.of(new RunFile(task, number(matcher, 3)));
  }

  private static int number(Matcher matcher, int group) {
    return Integer.parseInt(matcher.group(group));
  }

  /** The file's name. */
  public String name() {
    return stem() + "_kernel.py";
  }

  /** The name of the file with its prompt, which may not exist. */
  public String promptName() {
    return stem() + "_prompt.txt";
  }

  private String stem() {
    return "level_" + task.level() + "_problem_" + task.number() + "_sample_" + sample;
  }
}

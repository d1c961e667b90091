package dev.kbx.verdict;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** KernelBench's number of a task: {@code level1/19_ReLU} is number 19 of level 1. */
public record TaskNumber(int level, int number) implements Comparable<TaskNumber> {
  private static final Pattern LEVEL = Pattern.compile("level(\\d{1,9})");
  private static final Pattern NUMBER = Pattern.compile("(\\d{1,9})_");
  private static final Comparator<TaskNumber> ORDER =
      Comparator.comparingInt(TaskNumber::level).thenComparingInt(TaskNumber::number);

  /** The number of a task; empty if its folder is not a level or its name begins with no number. */
  public static Optional<TaskNumber> of(String category, String task) {
    Matcher level = LEVEL.matcher(category);
    if (!level.matches()) return Optional.empty();
    return leading(task).map(number -> new TaskNumber(Integer.parseInt(level.group(1)), number));
  }

  /** The number that a task's name begins with: 19 of {@code 19_ReLU}. */
  public static Optional<Integer> leading(String task) {
    Matcher number = NUMBER.matcher(task);
    return number.lookingAt() ? Optional.of(Integer.parseInt(number.group(1))) : Optional.empty();
  }

  @Override
  public int compareTo(TaskNumber other) {
    return ORDER.compare(this, other);
  }
}

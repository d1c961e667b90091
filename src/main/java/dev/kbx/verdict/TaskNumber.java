package dev.kbx.verdict;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How KernelBench names a task: by its level and its number there. The task {@code level1/19_ReLU}
 * is number 19 of level 1.
 */
public record TaskNumber(int level, int number) implements Comparable<TaskNumber> {
  private static final Pattern LEVEL = Pattern.compile("level(\\d{1,9})");
  private static final Pattern NUMBER = Pattern.compile("(\\d{1,9})_");
  private static final Comparator<TaskNumber> ORDER =
      Comparator.comparingInt(TaskNumber::level).thenComparingInt(TaskNumber::number);

  /** The number of a task; empty if its folder is no level or its name begins with no number. */
  public static Optional<TaskNumber> of(String category, String task) {
    Matcher level = LEVEL.matcher(category);
    Matcher number = NUMBER.matcher(task);
    if (!level.matches() || !number.lookingAt()) return Optional.empty();
    return Optional.of(
        new TaskNumber(Integer.parseInt(level.group(1)), Integer.parseInt(number.group(1))));
  }

  @Override
  public int compareTo(TaskNumber other) {
    return ORDER.compare(this, other);
  }
}

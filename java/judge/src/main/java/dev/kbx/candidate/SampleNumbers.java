package dev.kbx.candidate;

import dev.kbx.task.Task;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Allocates sample numbers in each series of candidates. */
final class SampleNumbers {
  /** Candidates whose samples are numbered together. */
  record Series(
      Task task, @Nullable String method, @Nullable String model, @Nullable Integer round) {}

  private static final class Taken {
    private final Set<Integer> numbers = new HashSet<>();
    private int lowest;
  }

  private final Map<Series, Taken> taken = new HashMap<>();

  /** Takes a number; false if another candidate has it. */
  boolean take(Series series, int number) {
    return in(series).numbers.add(number);
  }

  /** Takes the lowest free number. */
  int takeLowest(Series series) {
    Taken all = in(series);
    while (!all.numbers.add(all.lowest)) all.lowest++;
    return all.lowest;
  }

  private Taken in(Series series) {
    return taken.computeIfAbsent(series, _ -> new Taken());
  }
}

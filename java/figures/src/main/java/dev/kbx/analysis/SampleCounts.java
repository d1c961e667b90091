package dev.kbx.analysis;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** The numbers of samples at which pass@k says something of some candidates. */
public final class SampleCounts {
  private static final Set<Integer> USUAL = Set.of(1, 5, 10);

  private SampleCounts() {}

  /**
   * 1, 5 and 10 as far as a task has so many samples, and the most samples that a task has of each
   * method and model; ascending.
   */
  public static List<Integer> of(List<VerdictRow> rows) {
    SortedSet<Integer> most = new TreeSet<>(Set.of(1));
    MethodAndModel.group(rows).values().forEach(own -> most.add(most(own)));
    SortedSet<Integer> counts = new TreeSet<>(USUAL);
    counts.removeIf(k -> k > most.last());
    counts.addAll(most);
    return List.copyOf(counts);
  }

  private static int most(List<VerdictRow> rows) {
    return ofTasks(rows).max().orElse(1);
  }

  /** How many samples each task has, of candidates of one method and model. */
  public static IntStream ofTasks(List<VerdictRow> rows) {
    Map<String, Set<Integer>> ofTask = new HashMap<>();
    for (VerdictRow row : rows) {
      ofTask.computeIfAbsent(row.path(), _ -> new HashSet<>()).add(row.sample());
    }
    return ofTask.values().stream().mapToInt(Set::size);
  }
}

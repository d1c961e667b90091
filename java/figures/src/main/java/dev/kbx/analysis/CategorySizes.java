package dev.kbx.analysis;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * How many tasks were asked for: what coverage is of.
 *
 * @param total of all runs together; where names are not known, of the run that asked for most
 * @param byCategory by name; those with a candidate, where the suite is missing or has changed
 */
record CategorySizes(int total, Map<String, Integer> byCategory) {
  static CategorySizes of(List<SelectedRun> runs, List<VerdictRow> rows) {
    Map<String, Set<String>> tasks = new TreeMap<>();
    for (VerdictRow row : rows) {
      tasks.computeIfAbsent(row.category(), _ -> new HashSet<>()).add(row.task());
    }
    for (SelectedRun run : runs) {
      run.asked()
          .byCategory()
          .forEach((category, names) ->
              tasks.computeIfAbsent(category, _ -> new HashSet<>()).addAll(names));
    }
    Map<String, Integer> sizes = new TreeMap<>();
    tasks.forEach((category, names) -> sizes.put(category, names.size()));
    int named = sizes.values().stream().mapToInt(Integer::intValue).sum();
    int most = runs.stream().mapToInt(run -> run.asked().total()).max().orElse(0);
    return new CategorySizes(Math.max(named, most), sizes);
  }
}

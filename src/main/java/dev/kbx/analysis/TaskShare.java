package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A share of tries that pass.
 *
 * @param value between 0 and 1: the mean of the tasks' shares
 * @param low lower end of its 95 % interval: Wilson's if each task has one try, else by a bootstrap
 *     over tasks, which has none where all tasks agree
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TaskShare(
    int passes, int total, double value, @Nullable Double low, @Nullable Double high) {

  /** Passes of the tries of each task. */
  static final class Tries {
    private final Map<String, List<Boolean>> byTask = new LinkedHashMap<>();

    void add(String task, boolean pass) {
      byTask.computeIfAbsent(task, _ -> new ArrayList<>()).add(pass);
    }

    /** Null without a try. */
    @Nullable TaskShare share() {
      if (byTask.isEmpty()) return null;
      int total = byTask.values().stream().mapToInt(List::size).sum();
      int passes = byTask.values().stream().mapToInt(Tries::passes).sum();
      List<int[]> counts =
          byTask.values().stream().map(tries -> new int[] {tries.size(), passes(tries)}).toList();
      SampledShare share = SampledShare.of(counts, counts.size());
      return new TaskShare(passes, total, share.value(), share.low(), share.high());
    }

    private static int passes(List<Boolean> tries) {
      return (int) tries.stream().filter(pass -> pass).count();
    }
  }
}

package dev.kbx.analysis;

import dev.kbx.stats.Median;
import dev.kbx.verdict.Status;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one method with one model made of feedback of one status: the kernels that it wrote next.
 *
 * @param status that the feedback told of
 * @param followed kernels that were written after it and judged on development inputs
 * @param correct of these, with 95 % interval
 * @param same of these with this status again, the unchanged ones among them
 * @param unchanged of these with the same lines as before
 * @param changed median share of lines that are not in both kernels, 0 to 1, over changed ones;
 *     null without one
 * @param next how often each status followed, the commonest first
 */
public record FeedbackChange(
    String method,
    String model,
    Status status,
    int followed,
    TaskShare correct,
    int same,
    int unchanged,
    @Nullable Double changed,
    List<Next> next) {
  public FeedbackChange {
    next = List.copyOf(next);
  }

  /** How often a status followed. */
  public record Next(Status status, int count) {}

  /**
   * A kernel that was written after feedback about another one.
   *
   * @param task {@code Category/name}
   * @param before status of the kernel that the feedback was about, on development inputs
   * @param after status of the new one
   * @param changed share of the lines of both that are not in both, 0 to 1
   */
  public record Followed(
      String method, String model, String task, Status before, Status after, double changed) {}

  /** By method and model in the order of their first kernel, then the commonest feedback first. */
  public static List<FeedbackChange> of(List<Followed> all) {
    Map<List<String>, Map<Status, List<Followed>>> groups = new LinkedHashMap<>();
    for (Followed each : all) {
      groups
          .computeIfAbsent(List.of(each.method(), each.model()), _ -> new LinkedHashMap<>())
          .computeIfAbsent(each.before(), _ -> new ArrayList<>())
          .add(each);
    }
    List<FeedbackChange> changes = new ArrayList<>();
    for (Map<Status, List<Followed>> own : groups.values()) {
      own.values().stream()
          .sorted(
              Comparator.<List<Followed>>comparingInt(List::size)
                  .reversed()
                  .thenComparing(same -> same.getFirst().before()))
          .forEach(same -> changes.add(ofOne(same)));
    }
    return changes;
  }

  private static FeedbackChange ofOne(List<Followed> same) {
    Followed any = same.getFirst();
    Map<String, int[]> tasks = new LinkedHashMap<>();
    Map<Status, Integer> next = new LinkedHashMap<>();
    for (Followed each : same) {
      int[] counts = tasks.computeIfAbsent(each.task(), _ -> new int[2]);
      counts[0]++;
      if (each.after() == Status.CORRECT) counts[1]++;
      next.merge(each.after(), 1, Integer::sum);
    }
    double[] changed =
        same.stream().mapToDouble(Followed::changed).filter(share -> share > 0).toArray();
    return new FeedbackChange(
        any.method(),
        any.model(),
        any.before(),
        same.size(),
        TaskShare.of(tasks.values()),
        next.getOrDefault(any.before(), 0),
        same.size() - changed.length,
        changed.length == 0 ? null : (Double) Median.of(changed),
        next.entrySet().stream()
            .map(entry -> new Next(entry.getKey(), entry.getValue()))
            .sorted(Comparator.comparingInt(Next::count).reversed().thenComparing(Next::status))
            .toList());
  }
}

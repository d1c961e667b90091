package dev.kbx.analysis;

import dev.kbx.analysis.Causes.Cause;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What goes wrong: failed candidates by stage and status, by rule, by message, and correct ones by
 * the properties of calls that they break on.
 *
 * @param uncompared why results were not compared in all runs: then candidates that only ran are
 *     not among the failed; null if they were
 * @param failed candidates that are not correct
 * @param statuses by stage, then the most frequent first; sums to {@code failed}
 * @param rules of the static stage, the most frequent first
 * @param messages by shape, the most frequent first
 * @param properties that candidates right at the published grade break on
 * @param breaking the same candidates by all that each breaks on
 * @param structures near-duplicates among all candidates
 * @param publishedOk candidates that are right at the published grade
 */
public record Errors(
    Inclusion entered,
    @Nullable String uncompared,
    int failed,
    List<OfStatus> statuses,
    List<OfRule> rules,
    List<OfMessage> messages,
    int publishedOk,
    List<OfProperty> properties,
    List<Breaking> breaking,
    Structures structures) {

  /**
   * Candidates that ended with one status.
   *
   * @param makers how many of each method and model
   */
  public record OfStatus(
      Stage stage, Status status, int candidates, int tasks, List<OfMaker> makers) {}

  /** How many candidates a method and model has of them. */
  public record OfMaker(MethodAndModel maker, int candidates) {}

  /** Candidates that a rule rejects. */
  public record OfRule(String rule, int candidates, int tasks) {}

  /**
   * Candidates whose messages have one shape.
   *
   * @param example one message
   * @param task of the example
   * @param source of the example
   */
  public record OfMessage(
      Status status,
      String shape,
      int candidates,
      int tasks,
      String example,
      String task,
      String source) {}

  /**
   * Candidates that break on a property of calls.
   *
   * @param property {@code a+b} if they are right for each alone
   */
  public record OfProperty(String property, int candidates, int tasks) {}

  /** Candidates that break on the same properties, one or several. */
  public record Breaking(List<String> properties, int candidates) {}

  /** Counts of a group. */
  private static final class Group {
    private int candidates;
    private final Set<String> tasks = new HashSet<>();
    private final Map<MethodAndModel, Integer> makers = new TreeMap<>();

    void add(VerdictRow row) {
      candidates++;
      tasks.add(row.path());
      makers.merge(MethodAndModel.of(row), 1, Integer::sum);
    }

    int candidates() {
      return candidates;
    }
  }

  private record StageStatus(Stage stage, Status status) {}

  /**
   * The errors of the candidates of all runs; of several rounds the last one counts.
   *
   * @param causes of all rows of the runs
   */
  public static Errors of(SelectedRuns runs, Causes causes) {
    Pool pool = runs.pool(Pool.Rounds.LAST);
    Map<StageStatus, Group> statuses = new LinkedHashMap<>();
    Map<String, Group> rules = new LinkedHashMap<>();
    Map<Causes.Message, Group> messages = new LinkedHashMap<>();
    Map<String, Group> properties = new LinkedHashMap<>();
    Map<List<String>, Group> breaking = new LinkedHashMap<>();
    int failed = 0;
    int published = 0;
    for (VerdictRow row : pool.rows()) {
      if (Boolean.TRUE.equals(row.publishedOk())) {
        published++;
        for (String property : row.breaks()) add(properties, property, row);
        if (!row.breaks().isEmpty()) add(breaking, row.breaks(), row);
      }
      if (row.correct()) continue;
      failed++;
      Cause cause = causes.of(row);
      add(statuses, new StageStatus(cause.stage(), row.status()), row);
      if (cause.rule() != null) add(rules, cause.rule(), row);
      if (cause.message() != null) add(messages, cause.message(), row);
    }
    return new Errors(
        pool.entered(),
        Outcome.CORRECT.unmeasuredIn(runs),
        failed,
        statuses(statuses),
        sorted(rules).stream()
            .map(e -> new OfRule(e.getKey(), e.getValue().candidates, e.getValue().tasks.size()))
            .toList(),
        sorted(messages).stream().map(e -> message(e.getKey(), e.getValue())).toList(),
        published,
        sorted(properties).stream()
            .map(
                e -> new OfProperty(e.getKey(), e.getValue().candidates, e.getValue().tasks.size()))
            .toList(),
        sorted(breaking).stream()
            .map(e -> new Breaking(e.getKey(), e.getValue().candidates))
            .toList(),
        Structures.of(pool.rows()));
  }

  private static <K> void add(Map<K, Group> groups, K key, VerdictRow row) {
    groups.computeIfAbsent(key, _ -> new Group()).add(row);
  }

  /** The largest first. */
  private static <K> List<Map.Entry<K, Group>> sorted(Map<K, Group> groups) {
    return groups.entrySet().stream()
        .sorted(
            Comparator.comparingInt((Map.Entry<K, Group> e) -> e.getValue().candidates())
                .reversed())
        .toList();
  }

  private static List<OfStatus> statuses(Map<StageStatus, Group> groups) {
    List<OfStatus> all = new ArrayList<>();
    sorted(groups)
        .forEach(e ->
            all.add(
                new OfStatus(
                    e.getKey().stage(),
                    e.getKey().status(),
                    e.getValue().candidates,
                    e.getValue().tasks.size(),
                    makers(e.getValue()))));
    all.sort(Comparator.comparing(OfStatus::stage));
    return all;
  }

  private static List<OfMaker> makers(Group group) {
    List<OfMaker> all = new ArrayList<>();
    group.makers.forEach((maker, candidates) -> all.add(new OfMaker(maker, candidates)));
    return all;
  }

  private static OfMessage message(Causes.Message message, Group group) {
    return new OfMessage(
        message.status(),
        message.shape(),
        group.candidates,
        group.tasks.size(),
        message.example(),
        message.task(),
        message.source());
  }

  /**
   * Near-duplicates: candidates on one task whose sources differ only in names, constants, comments
   * and layout.
   *
   * @param unknown candidates whose source is not known: it does not parse, or an earlier version
   *     judged it
   * @param all of all candidates together
   * @param makers of each method and model
   * @param clusters of two candidates or more, the largest first
   */
  public record Structures(
      int unknown, Variety all, List<VarietyOfMaker> makers, List<Cluster> clusters) {
    /** Clusters that are kept. */
    private static final int KEPT = 100;

    /**
     * How much candidates differ.
     *
     * @param candidates whose source is known
     * @param tasks number of their tasks
     * @param sources different sources, summed over tasks
     * @param structures different structures, summed over tasks
     */
    public record Variety(int candidates, int tasks, int sources, int structures) {}

    /** The candidates of one method and model. */
    public record VarietyOfMaker(MethodAndModel maker, Variety variety) {}

    /**
     * Candidates on one task with one structure.
     *
     * @param sources different sources among them
     * @param correct correct ones among them
     * @param makers number of methods and models that they are of
     * @param source of the first
     */
    public record Cluster(
        String task,
        String structure,
        int candidates,
        int sources,
        int correct,
        int makers,
        String source) {}

    private record Key(String task, String structure) {}

    private static final class Members {
      private final String source;
      private int candidates;
      private int correct;
      private final Set<String> sources = new HashSet<>();
      private final Set<MethodAndModel> makers = new HashSet<>();

      Members(VerdictRow first) {
        source = first.source();
      }

      void add(VerdictRow row) {
        candidates++;
        if (Iterations.isCorrect(row)) correct++;
        sources.add(row.candidate());
        makers.add(MethodAndModel.of(row));
      }

      Cluster cluster(Key key) {
        return new Cluster(
            key.task(),
            key.structure(),
            candidates,
            sources.size(),
            correct,
            makers.size(),
            source);
      }
    }

    /** The structures of rows, in the order of the rows. */
    public static Structures of(List<VerdictRow> rows) {
      Map<Key, Members> members = new LinkedHashMap<>();
      int unknown = 0;
      for (VerdictRow row : rows) {
        if (row.features() == null) {
          unknown++;
          continue;
        }
        members
            .computeIfAbsent(new Key(row.path(), row.features().structure()), _ -> new Members(row))
            .add(row);
      }
      List<Cluster> clusters = new ArrayList<>();
      members.forEach((key, own) -> {
        if (own.candidates > 1) clusters.add(own.cluster(key));
      });
      clusters.sort(
          Comparator.comparingInt(Cluster::candidates).reversed().thenComparing(Cluster::task));
      List<VarietyOfMaker> makers = new ArrayList<>();
      MethodAndModel.group(rows)
          .forEach((maker, own) -> makers.add(new VarietyOfMaker(maker, variety(own))));
      return new Structures(
          unknown,
          variety(rows),
          makers,
          List.copyOf(clusters.subList(0, Math.min(KEPT, clusters.size()))));
    }

    private static Variety variety(List<VerdictRow> rows) {
      Set<String> tasks = new HashSet<>();
      Set<Key> sources = new HashSet<>();
      Set<Key> structures = new HashSet<>();
      int candidates = 0;
      for (VerdictRow row : rows) {
        if (row.features() == null) continue;
        candidates++;
        tasks.add(row.path());
        sources.add(new Key(row.path(), row.candidate()));
        structures.add(new Key(row.path(), row.features().structure()));
      }
      return new Variety(candidates, tasks.size(), sources.size(), structures.size());
    }
  }
}

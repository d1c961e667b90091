package dev.kbx.analysis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
public record Structures(int unknown, Variety all, List<OfMaker> makers, List<Cluster> clusters) {
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
  public record OfMaker(MethodAndModel maker, Variety variety) {}

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
          key.task(), key.structure(), candidates, sources.size(), correct, makers.size(), source);
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
    List<OfMaker> makers = new ArrayList<>();
    MethodAndModel.group(rows)
        .forEach((maker, own) -> makers.add(new OfMaker(maker, variety(own))));
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

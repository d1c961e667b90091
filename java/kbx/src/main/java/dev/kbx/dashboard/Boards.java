package dev.kbx.dashboard;

import dev.kbx.analysis.Leaderboard;
import dev.kbx.analysis.Leaderboard.Tried;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.store.VerdictQueries;
import dev.kbx.store.VerdictQueries.Board;
import dev.kbx.store.VerdictQueries.Cell;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Against;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The leaderboards of a store, one for each suite, grade and device. What was computed is kept
 * until there are more verdicts. Safe for several threads.
 */
public final class Boards {
  private static final int MOST_KEPT = 100;

  private final VerdictQueries queries;
  private final Map<String, Integer> tasks;
  private final Map<Board, Ranked> kept =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Board, Ranked> eldest) {
          return size() > MOST_KEPT;
        }
      };

  /**
   * A board with its ranks.
   *
   * @param baselines of the speedups, sorted
   */
  public record Ranked(Board board, Leaderboard ranks, List<String> baselines) {
    public Ranked {
      baselines = List.copyOf(baselines);
    }
  }

  /**
   * Boards of a store.
   *
   * @param suites those whose number of tasks is known
   */
  public Boards(VerdictQueries queries, List<Suite> suites) {
    this.queries = queries;
    this.tasks =
        suites.stream()
            .collect(
                Collectors.toMap(
                    Suite::name,
                    suite ->
                        (int) suite.tasks().stream().filter(Predicate.not(Task::extra)).count()));
  }

  /** The leaderboards with a verdict, the largest first. */
  List<Board> all() {
    return queries.boards();
  }

  /** The largest board of that suite, grade and device; an empty text stands for any. */
  public Optional<Board> find(String suite, String grade, String device) {
    return all().stream()
        .filter(each -> suite.isEmpty() || each.suite().equals(suite))
        .filter(each -> grade.isEmpty() || grade(each).equals(grade))
        .filter(each -> device.isEmpty() || each.device().equals(device))
        .findFirst();
  }

  /** The grade, or that none is stated. */
  static String grade(Board board) {
    return Objects.requireNonNullElse(board.grade(), "not stated");
  }

  /** The board with its ranks. */
  public Ranked ranked(Board board) {
    synchronized (kept) {
      Ranked known = kept.get(board);
      if (known != null) return known;
    }
    Ranked ranked = rank(board);
    synchronized (kept) {
      kept.keySet().removeIf(each -> isOlder(each, board));
      kept.put(board, ranked);
    }
    return ranked;
  }

  private static boolean isOlder(Board one, Board other) {
    return one.suite().equals(other.suite())
        && grade(one).equals(grade(other))
        && one.device().equals(other.device());
  }

  private Ranked rank(Board board) {
    List<Cell> cells = queries.cells(board);
    TreeSet<String> baselines =
        cells.stream()
            .flatMap(cell -> cell.baselines().stream())
            .map(each -> Against.of(each).ofAnyTask().toString())
            .collect(Collectors.toCollection(TreeSet::new));
    Leaderboard ranks =
        Leaderboard.of(
            cells.stream().map(Boards::tried).toList(),
            tasks.getOrDefault(board.suite(), 0),
            baselines.size() == 1);
    return new Ranked(board, ranks, List.copyOf(baselines));
  }

  private static Tried tried(Cell cell) {
    return new Tried(
        new MethodAndModel(cell.method(), cell.model()),
        cell.category() + "/" + cell.task(),
        cell.samples(),
        cell.correct(),
        cell.general(),
        cell.timed(),
        cell.faster(),
        cell.twice());
  }
}

package dev.kbx.store;

import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** {@link VerdictQueries} over connections of a pool. */
final class JdbcQueries implements VerdictQueries {
  /** Rows at a time when a run is read. */
  private static final int FETCHED = 500;

  private static final String UNJUDGED = "('invalid_task', 'infrastructure')";

  private static final String PLACED =
      """
      SELECT %s FROM verdict WHERE (run, position) IN (%%s) ORDER BY %%s
      """
          .formatted(PlacedReader.COLUMNS);

  private final Database database;
  private final QueryPool pool;

  JdbcQueries(Database database, QueryPool pool) {
    this.database = database;
    this.pool = pool;
  }

  private interface Get<T> {
    T with(Handle handle);
  }

  private <T> T get(Get<T> get) {
    try {
      return pool.jdbi().withHandle(get::with);
    } catch (JdbiException e) {
      throw database.problem(e);
    } catch (JacksonException e) {
      throw new StoreProblem(
          database.label(), "is damaged: a verdict cannot be read; " + database.advice(), e);
    }
  }

  @Override
  public List<RunInfo> runs(int skip, int most) {
    return runs("", skip, most);
  }

  @Override
  public List<RunInfo> unfinished(int most) {
    return runs("WHERE finished IS NULL", 0, most);
  }

  private List<RunInfo> runs(String where, int skip, int most) {
    return get(h ->
        h.createQuery(
                "SELECT info, name, note FROM run %s ORDER BY started DESC, id DESC LIMIT :most OFFSET :skip"
                    .formatted(where))
            .bind("most", most)
            .bind("skip", skip)
            .map((row, _) -> JdbcStore.labelled(row))
            .list());
  }

  @Override
  public int runs() {
    return get(h -> h.createQuery("SELECT count(*) FROM run").mapTo(Integer.class).one());
  }

  @Override
  public Map<String, RunCounts> counts(List<String> runs) {
    if (runs.isEmpty()) return Map.of();
    return get(h -> {
      Map<String, Counting> counted = new LinkedHashMap<>();
      h.createQuery(
              """
              SELECT run, status, category, task, count(*), sum(call_ok), sum(general_ok), count(speedup)
              FROM verdict WHERE run IN (<runs>) GROUP BY run, status, category, task
              """)
          .bindList("runs", runs)
          .map((row, _) -> {
            counted.computeIfAbsent(row.getString(1), _ -> new Counting()).add(row);
            return 0;
          })
          .list();
      return counted.entrySet().stream()
          .collect(Collectors.toMap(Map.Entry::getKey, each -> each.getValue().counts()));
    });
  }

  /** Sums over the statuses, categories and tasks of one run. */
  private static final class Counting {
    private final Map<Status, Integer> statuses = new EnumMap<>(Status.class);
    private final Map<String, CategoryCounts> categories = new TreeMap<>();
    private int verdicts;
    private int judged;
    private int called;
    private int correct;
    private int general;
    private int timed;
    private int solved;

    void add(ResultSet row) throws SQLException {
      Status status = Status.of(row.getString(2));
      int count = row.getInt(5);
      boolean says = status.blame() != Status.Blame.TASK && status.blame() != Status.Blame.KBX;
      statuses.merge(status, count, Integer::sum);
      categories.merge(
          row.getString(3),
          new CategoryCounts(
              row.getString(3), says ? count : 0, status == Status.CORRECT ? count : 0),
          CategoryCounts::and);
      verdicts += count;
      if (!says) return;
      judged += count;
      called += row.getInt(6);
      if (status != Status.CORRECT) return;
      correct += count;
      solved++;
      general += row.getInt(7);
      timed += row.getInt(8);
    }

    RunCounts counts() {
      return new RunCounts(
          verdicts,
          judged,
          called,
          correct,
          general,
          timed,
          solved,
          statuses,
          List.copyOf(categories.values()));
    }
  }

  /** The conditions of a filter, and their values by name. */
  private record Where(String text, Map<String, String> values) {
    Query bind(Query query) {
      values.forEach(query::bind);
      return query;
    }
  }

  private Where where(Filter filter) {
    Map<String, String> values = new LinkedHashMap<>();
    List<String> conditions = new ArrayList<>();
    conditions.add("1 = 1");
    put(values, conditions, "run", filter.run());
    put(values, conditions, "suite", filter.suite());
    put(values, conditions, "category", filter.category());
    put(values, conditions, "task", filter.task());
    String status = filter.status() == null ? null : filter.status().label();
    put(values, conditions, "status", status);
    put(values, conditions, "method", filter.method());
    put(values, conditions, "model", filter.model());
    return new Where(String.join(" AND ", conditions), values);
  }

  private void put(
      Map<String, String> values, List<String> conditions, String column, @Nullable String value) {
    if (value == null) return;
    if (value.isEmpty()) {
      conditions.add(column + " IS NULL");
      return;
    }
    conditions.add("%s = :%s".formatted(column, column));
    values.put(column, database.stored(value));
  }

  @Override
  public int count(Filter filter) {
    Where where = where(filter);
    return get(h ->
        where
            .bind(h.createQuery("SELECT count(*) FROM verdict WHERE " + where.text()))
            .mapTo(Integer.class)
            .one());
  }

  @Override
  public List<Placed> page(Filter filter, Order order, int skip, int most) {
    Where where = where(filter);
    String by =
        switch (order) {
          case POSITION -> "run, position";
          case NEWEST -> "run DESC, position DESC";
        };
    String places =
        "SELECT run, position FROM verdict WHERE %s ORDER BY %s LIMIT %d OFFSET %d"
            .formatted(where.text(), by, most, skip);
    return get(h -> placed(where.bind(h.createQuery(PLACED.formatted(places, by)))));
  }

  private static List<Placed> placed(Query query) {
    PlacedReader reader = new PlacedReader();
    return query.map((row, _) -> reader.placed(row)).list();
  }

  @Override
  public List<Board> boards() {
    return get(h ->
        h.createQuery(
                """
                SELECT suite, grade, device, count(*) FROM verdict
                GROUP BY suite, grade, device ORDER BY count(*) DESC, suite, device
                """)
            .map((row, _) ->
                new Board(row.getString(1), row.getString(2), row.getString(3), row.getInt(4)))
            .list());
  }

  @Override
  public List<Cell> cells(Board board) {
    String grade = board.grade() == null ? "IS NULL" : "= :grade";
    return get(h -> {
      Query query =
          h.createQuery(
                  """
                  SELECT method, model, category, task, count(*),
                    count(CASE WHEN status = 'correct' THEN 1 END),
                    max(CASE WHEN nth = 1 AND status = 'correct' THEN 1 ELSE 0 END),
                    count(CASE WHEN status = 'correct' AND general_ok = 1 THEN 1 END),
                    count(CASE WHEN status = 'correct' THEN speedup END),
                    count(CASE WHEN status = 'correct' AND speedup > 1 THEN 1 END),
                    count(CASE WHEN status = 'correct' AND speedup > 2 THEN 1 END),
                    min(baseline), max(baseline)
                  FROM (
                    SELECT *, row_number() OVER (PARTITION BY method, model, category, task ORDER BY sample) nth
                    FROM (
                      SELECT method, model, category, task, sample, status, general_ok, speedup, baseline,
                        row_number() OVER (PARTITION BY method, model, category, task, sample ORDER BY run DESC, round DESC) last
                      FROM verdict WHERE suite = :suite AND grade %s AND device = :device AND status NOT IN %s) a
                    WHERE last = 1) b
                  GROUP BY method, model, category, task
                  """
                      .formatted(grade, UNJUDGED))
              .bind("suite", board.suite())
              .bind("device", board.device());
      if (board.grade() != null) query.bind("grade", board.grade());
      return query.map((row, _) -> cell(row)).list();
    });
  }

  private Cell cell(ResultSet row) throws SQLException {
    return new Cell(
        original(row.getString(1)),
        original(row.getString(2)),
        row.getString(3),
        row.getString(4),
        row.getInt(5),
        row.getInt(6),
        row.getInt(7) == 1,
        row.getInt(8),
        row.getInt(9),
        row.getInt(10),
        row.getInt(11),
        Stream.of(row.getString(12), row.getString(13))
            .filter(Objects::nonNull)
            .distinct()
            .toList());
  }

  private @Nullable String original(@Nullable String text) {
    return text == null ? null : database.original(text);
  }

  @Override
  public List<TaskCounts> tasks(String suite) {
    return get(h ->
        h.createQuery(
                """
                SELECT category, task, count(*), count(CASE WHEN status = 'correct' THEN 1 END),
                  max(CASE WHEN status = 'correct' THEN speedup END)
                FROM verdict WHERE suite = :suite GROUP BY category, task ORDER BY category, task
                """)
            .bind("suite", suite)
            .map((row, _) ->
                new TaskCounts(
                    row.getString(1),
                    row.getString(2),
                    row.getInt(3),
                    row.getInt(4),
                    (Double) row.getObject(5)))
            .list());
  }

  @Override
  public Map<Status, Integer> statuses(String suite, String category, String task) {
    return get(h -> {
      Map<Status, Integer> counts = new EnumMap<>(Status.class);
      h.createQuery(
              """
              SELECT status, count(*) FROM verdict
              WHERE suite = :suite AND category = :category AND task = :task GROUP BY status
              """)
          .bind("suite", suite)
          .bind("category", category)
          .bind("task", task)
          .map((row, _) -> counts.put(Status.of(row.getString(1)), row.getInt(2)) == null)
          .list();
      return counts;
    });
  }

  @Override
  public List<Placed> records(String suite, String category, String task) {
    String records =
        """
        SELECT run, position FROM (
          SELECT run, position, speedup, max(speedup) OVER (PARTITION BY device ORDER BY run, position
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) best
          FROM verdict WHERE suite = :suite AND category = :category AND task = :task
            AND status = 'correct' AND speedup IS NOT NULL) t
        WHERE best IS NULL OR speedup > best
        """;
    return get(h ->
        placed(
            h.createQuery(PLACED.formatted(records, "run, position"))
                .bind("suite", suite)
                .bind("category", category)
                .bind("task", task)));
  }

  @Override
  public Names names(String run) {
    Set<String> methods = new TreeSet<>();
    Set<String> models = new TreeSet<>();
    List<Integer> _ =
        get(h ->
            h.createQuery("SELECT DISTINCT method, model FROM verdict WHERE run = :run")
                .bind("run", run)
                .map((row, _) -> {
                  methods.add(Objects.requireNonNullElse(original(row.getString(1)), ""));
                  models.add(Objects.requireNonNullElse(original(row.getString(2)), ""));
                  return 0;
                })
                .list());
    return new Names(List.copyOf(methods), List.copyOf(models));
  }

  @Override
  public List<Placed> history(String candidate, int most) {
    if (candidate.isEmpty()) return List.of();
    String places =
        "SELECT run, position FROM verdict WHERE candidate = :candidate"
            + " ORDER BY run DESC, position DESC LIMIT "
            + most;
    return get(h ->
        placed(
            h.createQuery(PLACED.formatted(places, "run DESC, position DESC"))
                .bind("candidate", candidate)));
  }

  @Override
  public void forEach(String run, Consumer<Stored> reader) {
    int _ =
        get(h ->
            h.inTransaction( // PostgreSQL reads a part at a time within a transaction alone.
                t -> {
                  t.createQuery(
                          "SELECT position, body FROM verdict WHERE run = :run ORDER BY position")
                      .setFetchSize(FETCHED)
                      .bind("run", run)
                      .map((row, _) -> new Stored(row.getInt(1), row.getString(2)))
                      .forEach(reader);
                  return 0;
                }));
  }

  @Override
  public Optional<Stored> stored(String run, int position) {
    return get(h ->
        h.createQuery(
                "SELECT position, body FROM verdict WHERE run = :run AND position = :position")
            .bind("run", run)
            .bind("position", position)
            .map((row, _) -> new Stored(row.getInt(1), row.getString(2)))
            .findFirst());
  }
}

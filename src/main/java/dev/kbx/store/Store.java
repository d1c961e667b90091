package dev.kbx.store;

import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.flywaydb.core.Flyway;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;
import tools.jackson.core.JacksonException;

/**
 * Runs and verdicts in one SQLite file.
 *
 * <p>Safe for use by several threads: one connection, used by one at a time. A verdict is on disk
 * when {@link #add} returns, in the sense that killing this process loses nothing.
 */
public final class Store implements AutoCloseable {
  /**
   * The newest migration under {@code db/migration}; a file that says so needs no look at the
   * migrations.
   */
  private static final int SCHEMA = 2;

  private static final Set<Integer> DAMAGED =
      Set.of(SQLiteErrorCode.SQLITE_NOTADB.code, SQLiteErrorCode.SQLITE_CORRUPT.code);

  /** What the driver makes of SQLite's own words, which are in the brackets. */
  private static final Pattern TWICE = Pattern.compile("\\[SQLITE_\\w+\\] .*?\\((.+)\\)");

  private final Handle handle;
  private final Path file;

  private Store(Path file, Handle handle) {
    this.file = file;
    this.handle = handle;
  }

  /** Opens the file, made or migrated as needed. Throws {@link StoreProblem}. */
  public static Store open(Path file) {
    String url = "jdbc:sqlite:" + file;
    try {
      if (isForeign(url)) {
        throw new StoreProblem(file, "is another program's database; give another --out");
      }
      if (schemaOf(url) < SCHEMA) migrate(url);
      if (schemaOf(url) > SCHEMA) {
        throw new StoreProblem(file, "was written by a newer kbx; use that one");
      }
      Jdbi jdbi = Jdbi.create(() -> connect(url));
      return new Store(file, jdbi.open());
    } catch (SQLException | ConnectionException e) {
      throw new StoreProblem(file, reason(file, e), e);
    } catch (org.flywaydb.core.api.FlywayException e) {
      throw new StoreProblem(
          file, "cannot be brought to this version's schema: " + reason(file, e), e);
    }
  }

  /** Opens the file only if it exists. */
  public static Optional<Store> openExisting(Path file) {
    return Files.exists(file) ? Optional.of(open(file)) : Optional.empty();
  }

  private static Connection connect(String url) throws SQLException {
    Connection connection = DriverManager.getConnection(url);
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA journal_mode = WAL");
      statement.execute("PRAGMA synchronous = NORMAL");
      statement.execute("PRAGMA foreign_keys = ON");
      statement.execute("PRAGMA busy_timeout = 10000");
    }
    return connection;
  }

  private static int schemaOf(String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("PRAGMA user_version")) {
      return rows.next() ? rows.getInt(1) : 0;
    }
  }

  /** Whether there are tables, and not the one that even a migration that was killed leaves. */
  private static boolean isForeign(String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet tables =
            statement.executeQuery(
                "SELECT count(*), count(*) FILTER (WHERE name = 'flyway_schema_history')"
                    + " FROM sqlite_master WHERE type = 'table'")) {
      return tables.next() && tables.getInt(1) > 0 && tables.getInt(2) == 0;
    }
  }

  private static void migrate(String url) throws SQLException {
    Flyway.configure()
        .dataSource(url, null, null)
        .locations("classpath:db/migration")
        .load()
        .migrate();
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA user_version = " + SCHEMA);
    }
  }

  /** Records a run that starts now. */
  public void begin(RunInfo run) {
    use(h ->
        h.createUpdate("INSERT INTO run (id, started, info) VALUES (:id, :started, :info)")
            .bind("id", run.id())
            .bind("started", run.started().toString())
            .bind("info", Json.mapper().writeValueAsString(run))
            .execute());
  }

  /** Records that a run has judged everything. */
  public void finish(RunInfo run) {
    use(h ->
        h.createUpdate("UPDATE run SET finished = :finished, info = :info WHERE id = :id")
            .bind("finished", String.valueOf(run.finished()))
            .bind("info", Json.mapper().writeValueAsString(run))
            .bind("id", run.id())
            .execute());
  }

  /**
   * Records one verdict, which is on disk when this returns.
   *
   * @param position place of the candidate in its run; a second verdict for it, or for the same
   *     candidate of the run, is refused
   * @param code the candidate's source
   * @return the verdict as it is stored
   */
  public Stored add(int position, Verdict verdict, String code) {
    String json = Json.mapper().writeValueAsString(verdict);
    Verdict.Speedup speedup = verdict.speedup();
    use(h ->
        h.useTransaction(t -> {
          t.createUpdate("INSERT OR IGNORE INTO source (candidate, code) VALUES (:c, :code)")
              .bind("c", verdict.candidate())
              .bind("code", code)
              .execute();
          t.createUpdate(
                  """
                  INSERT INTO verdict (run, position, identity, candidate, suite, category, task,
                    method, model, sample, round, status, stage, device,
                    speedup, speedup_low, speedup_high, baseline, body)
                  VALUES (:run, :position, :identity, :candidate, :suite, :category, :task,
                    :method, :model, :sample, :round, :status, :stage, :device,
                    :speedup, :low, :high, :baseline, :body)
                  """)
              .bind("run", verdict.run())
              .bind("position", position)
              .bind("identity", verdict.provenance().identity().text())
              .bind("candidate", verdict.candidate())
              .bind("suite", verdict.suite())
              .bind("category", verdict.category())
              .bind("task", verdict.task())
              .bind("method", verdict.method())
              .bind("model", verdict.model())
              .bind("sample", verdict.sample())
              .bind("round", verdict.round())
              .bind("status", verdict.status().label())
              .bind("stage", verdict.stage().label())
              .bind("device", verdict.device().name())
              .bind("speedup", speedup == null ? null : (Double) speedup.value())
              .bind("low", speedup == null ? null : (Double) speedup.low())
              .bind("high", speedup == null ? null : (Double) speedup.high())
              .bind("baseline", speedup == null ? null : speedup.baseline())
              .bind("body", json)
              .execute();
        }));
    return new Stored(position, json);
  }

  /** All runs, newest first. */
  public List<RunInfo> runs() {
    return get(h ->
        h
            .createQuery("SELECT id, info FROM run")
            .map((row, _) -> info(file, row.getString(1), row.getString(2)))
            .stream()
            // Of two runs begun in one second ids do not say which is newer.
            .sorted(Comparator.comparing(RunInfo::started).thenComparing(RunInfo::id).reversed())
            .toList());
  }

  public Optional<RunInfo> run(String id) {
    return get(h ->
        h.createQuery("SELECT id, info FROM run WHERE id = :id")
            .bind("id", id)
            .map((row, _) -> info(file, row.getString(1), row.getString(2)))
            .findFirst());
  }

  /** Whether there is such a run, readable or not. */
  public boolean has(String id) {
    return get(h ->
        h.createQuery("SELECT 1 FROM run WHERE id = :id")
            .bind("id", id)
            .mapTo(Integer.class)
            .findOne()
            .isPresent());
  }

  /** Which candidate was judged, and its place in the run. */
  public record Judged(int position, CandidateIdentity identity) {}

  /** What a run has judged, in no order. */
  public List<Judged> judged(String run) {
    return get(h ->
        h.createQuery(
                """
                SELECT position, suite, category || '/' || task, method, model, sample, round, candidate
                FROM verdict WHERE run = :run
                """)
            .bind("run", run)
            .map((row, _) ->
                new Judged(
                    row.getInt(1),
                    new CandidateIdentity(
                        row.getString(2),
                        row.getString(3),
                        row.getString(4),
                        row.getString(5),
                        row.getInt(6),
                        (Integer) row.getObject(7),
                        row.getString(8))))
            .list());
  }

  /** How many verdicts a run has. */
  public int count(String run) {
    return get(h ->
        h.createQuery("SELECT count(*) FROM verdict WHERE run = :run")
            .bind("run", run)
            .mapTo(Integer.class)
            .one());
  }

  /** Every verdict of a run in the order of positions, one at a time. */
  public void forEach(String run, Consumer<Stored> reader) {
    use(h ->
        h.createQuery("SELECT position, body FROM verdict WHERE run = :run ORDER BY position")
            .bind("run", run)
            .map((row, _) -> new Stored(row.getInt(1), row.getString(2)))
            .forEach(stored -> read(run, stored, reader)));
  }

  private void read(String run, Stored stored, Consumer<Stored> reader) {
    try {
      reader.accept(stored);
    } catch (JacksonException e) {
      throw damaged(file, run, e);
    }
  }

  /** The verdict at a position of a run, which must have one there. */
  public Verdict verdict(String run, int position) {
    return get(h ->
        h.createQuery("SELECT body FROM verdict WHERE run = :run AND position = :position")
            .bind("run", run)
            .bind("position", position)
            .map((row, _) -> verdict(run, row.getString(1)))
            .one());
  }

  private Verdict verdict(String run, String body) {
    try {
      return new Stored(0, body).verdict();
    } catch (JacksonException e) {
      throw damaged(file, run, e);
    }
  }

  /** Verdicts of a run by position, all in memory; positions without one were not judged. */
  public SortedMap<Integer, Verdict> verdicts(String run) {
    SortedMap<Integer, Verdict> found = new TreeMap<>();
    forEach(run, stored -> found.put(stored.position(), stored.verdict()));
    return found;
  }

  /** A judgement that was kept under this key. */
  public Optional<Judgement> remembered(String key) {
    return get(h ->
        h.createQuery("SELECT body FROM judgement WHERE judged_as = :key")
            .bind("key", key)
            .map((row, _) -> Json.mapper().readValue(row.getString(1), Judgement.class))
            .findFirst());
  }

  /**
   * Keeps a judgement under a key; one that is there already stays.
   *
   * @param candidate hash of its source: once no run has a verdict on it, it is forgotten
   */
  public void remember(String key, String candidate, Judgement judgement) {
    use(h ->
        h.createUpdate(
                "INSERT OR IGNORE INTO judgement (judged_as, candidate, body) VALUES (:key, :c,"
                    + " :body)")
            .bind("key", key)
            .bind("c", candidate)
            .bind("body", Json.mapper().writeValueAsString(judgement))
            .execute());
  }

  /** The source of a candidate judged here. */
  public Optional<String> source(String candidate) {
    return get(h ->
        h.createQuery("SELECT code FROM source WHERE candidate = :c")
            .bind("c", candidate)
            .mapTo(String.class)
            .findFirst());
  }

  /**
   * Deletes runs with their verdicts, and sources and judgements that no other run has, or, on a
   * failure or a kill of this process, nothing.
   *
   * @return how many of the runs there were
   */
  public int delete(List<String> runs) {
    return get(h ->
        h.inTransaction(t -> {
          int deleted = 0;
          for (String run : runs) {
            deleted += t.createUpdate("DELETE FROM run WHERE id = :run").bind("run", run).execute();
          }
          for (String table : List.of("source", "judgement")) {
            t.execute(
                "DELETE FROM %s WHERE candidate NOT IN (SELECT candidate FROM verdict)"
                    .formatted(table));
          }
          return deleted;
        }));
  }

  /**
   * A run that {@link #merge} came upon.
   *
   * @param from the file it is from
   * @param verdicts how many it has
   * @param added whether it was brought in; false when the very same run was there
   */
  public record Merged(Path from, RunInfo run, int verdicts, boolean added) {}

  /** How many files {@link #merge} takes at once; SQLite's limit. */
  public static final int MOST_MERGED = 10;

  /**
   * Brings all runs of other files in, with verdicts and sources, or, on a failure or a kill of
   * this process, none. The others are opened and closed again. Throws {@link RunConflict} where a
   * different run has the same id.
   *
   * @param others at most {@value #MOST_MERGED}
   */
  public List<Merged> merge(List<Path> others) {
    others.forEach(other -> open(other).close());
    try {
      return get(h -> new Merge(h).all(others));
    } catch (StoreProblem e) {
      // SQLite does not say which of the files it was.
      others.forEach(Store::checkPages);
      throw e;
    }
  }

  private static void checkPages(Path file) {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("PRAGMA quick_check(1)")) {
      if (rows.next() && rows.getString(1).equals("ok")) return;
    } catch (SQLException e) {
      if (!isDamage(e)) throw new StoreProblem(file, reason(file, e), e);
    }
    throw new StoreProblem(file, "is damaged; merge the others without it");
  }

  /** The run in a row of a file. Throws {@link StoreProblem} where the row holds none. */
  static RunInfo info(Path file, String id, String json) {
    try {
      return Json.mapper().readValue(json, RunInfo.class);
    } catch (JacksonException e) {
      throw damaged(file, id, e);
    }
  }

  private static StoreProblem damaged(Path file, String run, JacksonException e) {
    return new StoreProblem(
        file, "is damaged: run %s cannot be read; %s".formatted(run, advice(file)), e);
  }

  private interface Use {
    void with(Handle handle);
  }

  private interface Get<T> {
    T with(Handle handle);
  }

  private synchronized void use(Use use) {
    try {
      use.with(handle);
    } catch (JdbiException e) {
      throw new StoreProblem(file, reason(file, e), e);
    }
  }

  private synchronized <T> T get(Get<T> get) {
    try {
      return get.with(handle);
    } catch (JdbiException e) {
      throw new StoreProblem(file, reason(file, e), e);
    }
  }

  private static String reason(Path file, Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) cause = cause.getCause();
    if (isDamage(cause)) return "is damaged, or no database; " + advice(file);
    String text = String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
    Matcher twice = TWICE.matcher(text);
    if (twice.matches()) return String.valueOf(twice.group(1));
    return text.isBlank() ? cause.getClass().getSimpleName() : text;
  }

  private static boolean isDamage(Throwable e) {
    return e instanceof SQLiteException sqlite && DAMAGED.contains(code(sqlite));
  }

  private static String advice(Path file) {
    String advice = "give another --out, or move it away";
    return Files.exists(file.resolveSibling("results.jsonl"))
        ? advice + " with results.jsonl, in which what was judged still stands"
        : advice;
  }

  /** The error without its details. */
  private static int code(SQLiteException e) {
    return e.getResultCode().code & 0xff;
  }

  @Override
  public synchronized void close() {
    handle.close();
  }
}

package dev.kbx.store;

import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.Verdict;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * Runs and verdicts in a database, over one connection that one thread uses at a time. A lost
 * connection fails the current call; the next call opens a new one.
 */
final class JdbcStore implements RunStore {
  /** Rows fetched at a time when a run is read. */
  private static final int FETCHED = 500;

  private final Database database;
  private final Jdbi jdbi;
  private final QueryPool pool;
  private final VerdictQueries queries;
  private final Claims claims;
  private final GroupCommit commits = new GroupCommit(this::transaction);
  private Handle handle;

  private JdbcStore(Database database) {
    this.database = database;
    this.jdbi = Jdbi.create(database::connect);
    this.pool = new QueryPool(database);
    this.queries = new JdbcQueries(database, pool);
    this.claims = new Claims(database);
    this.handle = jdbi.open();
  }

  /** Opens the store; creates or migrates its tables. Throws {@link StoreProblem}. */
  static JdbcStore open(Database database) {
    database.prepare();
    try {
      return new JdbcStore(database);
    } catch (ConnectionException e) {
      throw new StoreProblem(database.label(), database.reason(e), e);
    }
  }

  @Override
  public String label() {
    return database.label();
  }

  @Override
  public ServiceStore service() {
    return new JdbcService(this, database);
  }

  @Override
  public SessionStore sessions() {
    return new JdbcSessions(this, database);
  }

  private void transaction(Consumer<Handle> work) {
    Object _ =
        change(t -> {
          work.accept(t);
          return this;
        });
  }

  /** A transaction that writes. Each begins here, as it checks what this store has claimed. */
  <T> T change(Get<T> work) {
    return get(h ->
        h.inTransaction(t -> {
          claims.begin(t);
          return work.with(t);
        }));
  }

  /** Writes with others in one transaction; returns when it is committed. */
  void write(Consumer<Handle> work) {
    commits.write(work);
  }

  @Override
  public synchronized void claim(String name) {
    use(h -> claims.take(h, name));
  }

  @Override
  public boolean isClaimed(String run) {
    return get(h -> {
      try {
        return database.isClaimed(h.getConnection(), run);
      } catch (SQLException e) {
        throw new StoreProblem(database.label(), database.reason(e), e);
      }
    });
  }

  @Override
  public void checkClaims() {
    use(claims::check);
  }

  @Override
  public boolean claimLost() {
    return claims.lost();
  }

  @Override
  public Optional<String> notDurable() {
    return get(database::notDurable);
  }

  @Override
  public void begin(RunInfo run) {
    claim(run.id());
    transaction(t -> insert(t, run));
  }

  static void insert(Handle h, RunInfo run) {
    h.createUpdate(
            "INSERT INTO run (id, started, info, name, note)"
                + " VALUES (:id, :started, :info, :name, :note)")
        .bind("id", run.id())
        .bind("started", run.started().toString())
        .bind("info", text(run))
        .bind("name", run.name())
        .bind("note", run.note())
        .execute();
  }

  @Override
  public void finish(RunInfo run) {
    transaction(t ->
        t.createUpdate("UPDATE run SET finished = :finished, info = :info WHERE id = :id")
            .bind("finished", String.valueOf(run.finished()))
            .bind("info", text(run))
            .bind("id", run.id())
            .execute());
  }

  /** The run without its label, which has columns of its own. */
  private static String text(RunInfo run) {
    return Json.mapper().writeValueAsString(run.labelled(RunLabel.NONE));
  }

  @Override
  public boolean label(String run, RunLabel label) {
    return change(t ->
        t.createUpdate("UPDATE run SET name = :name, note = :note WHERE id = :id")
            .bind("name", label.name())
            .bind("note", label.note())
            .bind("id", run)
            .execute())
        == 1;
  }

  @Override
  public Stored add(int position, Verdict verdict, String code) {
    return put(position, verdict, code, false);
  }

  /**
   * Stores a verdict.
   *
   * @param code null if it is stored
   * @param again whether there may be one at that position, which it replaces
   */
  Stored put(int position, Verdict verdict, @Nullable String code, boolean again) {
    Map<String, @Nullable Object> row = VerdictColumns.of(database, position, verdict);
    write(t -> {
      if (code != null) {
        t.createUpdate(
                "INSERT INTO source (candidate, code) VALUES (:c, :code) ON CONFLICT DO NOTHING")
            .bind("c", verdict.provenance().candidate())
            .bind("code", database.stored(code))
            .execute();
      }
      if (again) {
        t.createUpdate("DELETE FROM verdict WHERE run = :run AND position = :position")
            .bind("run", verdict.provenance().run())
            .bind("position", position)
            .execute();
      }
      t.execute(VerdictColumns.INSERT, row.values().toArray());
    });
    return new Stored(position, String.valueOf(row.get("body")));
  }

  @Override
  public List<RunInfo> runs() {
    return get(h ->
        h.createQuery("SELECT id, info, name, note FROM run").map((row, _) -> info(row)).stream()
            // If two runs began in the same second, their ids do not say which is newer.
            .sorted(Comparator.comparing(RunInfo::started).thenComparing(RunInfo::id).reversed())
            .toList());
  }

  @Override
  public Optional<RunInfo> run(String id) {
    return get(h ->
        h.createQuery("SELECT id, info, name, note FROM run WHERE id = :id")
            .bind("id", id)
            .map((row, _) -> info(row))
            .findFirst());
  }

  @Override
  public boolean has(String id) {
    return get(h ->
        h.createQuery("SELECT 1 FROM run WHERE id = :id")
            .bind("id", id)
            .mapTo(Integer.class)
            .findOne()
            .isPresent());
  }

  @Override
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
                        original(row.getString(4)),
                        original(row.getString(5)),
                        row.getInt(6),
                        (Integer) row.getObject(7),
                        row.getString(8))))
            .list());
  }

  @Override
  public int count(String run) {
    return get(h ->
        h.createQuery("SELECT count(*) FROM verdict WHERE run = :run")
            .bind("run", run)
            .mapTo(Integer.class)
            .one());
  }

  @Override
  public void forEach(String run, Consumer<Stored> reader) {
    forEach(run, "position, body", row -> new Stored(row.getInt(1), row.getString(2)), reader);
  }

  @Override
  public void forEachRow(String run, Consumer<VerdictQueries.Placed> reader) {
    forEach(run, PlacedReader.COLUMNS, new PlacedReader()::placed, reader);
  }

  private interface Reading<T> {
    T of(ResultSet row) throws SQLException;
  }

  private <T> void forEach(String run, String columns, Reading<T> reading, Consumer<T> reader) {
    try {
      use(h ->
          h.useTransaction(
              t -> // PostgreSQL reads a part at a time within a transaction alone.
              t.createQuery(
                          "SELECT %s FROM verdict WHERE run = :run ORDER BY position"
                              .formatted(columns))
                      .setFetchSize(FETCHED)
                      .bind("run", run)
                      .map((row, _) -> reading.of(row))
                      .forEach(reader)));
    } catch (JacksonException e) {
      throw damaged(run, e);
    }
  }

  @Override
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
      throw damaged(run, e);
    }
  }

  @Override
  public SortedMap<Integer, Verdict> verdicts(String run) {
    SortedMap<Integer, Verdict> found = new TreeMap<>();
    forEach(run, stored -> found.put(stored.position(), stored.verdict()));
    return found;
  }

  @Override
  public Optional<Judgement> remembered(
      Collection<String> keys, Predicate<Verdict.Device> accepted) {
    if (keys.isEmpty()) return Optional.empty();
    return get(h ->
        h
            .createQuery("SELECT body FROM judgement WHERE judged_as IN (<keys>)")
            .bindList("keys", List.copyOf(keys))
            .map((row, _) -> Json.mapper().readValue(row.getString(1), Judgement.class))
            .stream()
            .filter(judgement -> accepted.test(judgement.device()))
            .findFirst());
  }

  @Override
  public void remember(String key, String candidate, Judgement judgement) {
    write(h ->
        h.createUpdate(
                "INSERT INTO judgement (judged_as, card, candidate, body)"
                    + " VALUES (:key, :card, :c, :body)"
                    + " ON CONFLICT DO NOTHING")
            .bind("key", key)
            .bind("card", Objects.requireNonNullElse(judgement.device().uuid(), ""))
            .bind("c", candidate)
            .bind("body", Json.mapper().writeValueAsString(judgement))
            .execute());
  }

  @Override
  public Optional<String> source(String candidate) {
    if (candidate.isEmpty()) return Optional.empty(); // A published result without one.
    return get(h ->
        h.createQuery("SELECT code FROM source WHERE candidate = :c")
            .bind("c", candidate)
            .mapTo(String.class)
            .findFirst()
            .map(database::original));
  }

  @Override
  public int delete(List<String> runs) {
    return change(t -> {
      int deleted = 0;
      for (String run : runs) {
        deleted += t.createUpdate("DELETE FROM run WHERE id = :run").bind("run", run).execute();
      }
      for (String table : List.of("source", "judgement")) {
        t.execute("DELETE FROM %s WHERE %s".formatted(table, unused(table)));
      }
      return deleted;
    });
  }

  /** What is true of a row of a table that no verdict and no submission uses. */
  static String unused(String table) {
    // NOT IN would compare each row with each on PostgreSQL once there are too many to keep.
    return """
    NOT EXISTS (SELECT 1 FROM verdict v WHERE v.candidate = %1$s.candidate)
      AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.candidate = %1$s.candidate)
    """
        .formatted(table);
  }

  @Override
  public synchronized List<Copied> copy(List<Selection> selections) {
    return change(t -> selections.stream().flatMap(each -> copy(t, each)).toList());
  }

  private Stream<Copied> copy(Handle target, Selection selection) {
    JdbcStore from = (JdbcStore) selection.from();
    return selection.runs().stream().map(run -> copy(target, from, run));
  }

  private Copied copy(Handle target, JdbcStore from, RunInfo run) {
    String id = run.id();
    int verdicts = from.count(id);
    boolean added = !has(id);
    if (!added && !digest(id).equals(from.digest(id))) throw new RunConflict(from.label(), id);
    from.use(h ->
        h.useTransaction(reading -> {
          RunCopy copy = new RunCopy(from.database, reading, database, target);
          if (added) copy.copy(id);
          copy.copySessions(id);
        }));
    return new Copied(from.label(), run, verdicts, added);
  }

  @Override
  public List<StoreFlaw> flaws() {
    return get(h -> h.inTransaction(new StoreCheck(database)::flaws));
  }

  @Override
  public void mend() {
    claim(ServiceStore.CLAIM);
    transaction(new StoreCheck(database)::mend);
  }

  /** Hash of a run's content: equal for equal runs in any store. */
  private String digest(String run) {
    MessageDigest digest = sha256();
    use(h ->
        h.createQuery("SELECT info FROM run WHERE id = ?")
            .bind(0, run)
            .mapTo(String.class)
            .forEach(info -> digest.update(info.getBytes(StandardCharsets.UTF_8))));
    forEach(
        run,
        stored ->
            digest.update((stored.position() + stored.json()).getBytes(StandardCharsets.UTF_8)));
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** The run of a row. Throws {@link StoreProblem} if the row is not readable. */
  private RunInfo info(ResultSet row) throws SQLException {
    try {
      return labelled(row);
    } catch (JacksonException e) {
      throw damaged(row.getString("id"), e);
    }
  }

  /** The run of a row with {@code info}, {@code name} and {@code note}. */
  static RunInfo labelled(ResultSet row) throws SQLException {
    RunInfo info = Json.mapper().readValue(row.getString("info"), RunInfo.class);
    return info.labelled(new RunLabel(row.getString("name"), row.getString("note")));
  }

  private StoreProblem damaged(String run, JacksonException e) {
    String what = "is damaged: run %s cannot be read; %s".formatted(run, database.advice());
    return new StoreProblem(database.label(), what, e);
  }

  private @Nullable String original(@Nullable String text) {
    return text == null ? null : database.original(text);
  }

  @Override
  public VerdictQueries queries() {
    return queries;
  }

  interface Use {
    void with(Handle handle);
  }

  interface Get<T> {
    T with(Handle handle);
  }

  synchronized void use(Use use) {
    try {
      use.with(handle());
    } catch (JdbiException e) {
      throw database.problem(e);
    }
  }

  synchronized <T> T get(Get<T> get) {
    try {
      return get.with(handle());
    } catch (JdbiException e) {
      throw database.problem(e);
    }
  }

  /** The connection; reopened if it was lost, and then used only once it has all claims again. */
  private Handle handle() {
    try {
      if (!handle.getConnection().isClosed()) return handle;
    } catch (SQLException e) {
      // So it is.
    }
    Handle opened = jdbi.open();
    try {
      claims.takeAgain(opened);
    } catch (RuntimeException | Error e) {
      opened.close();
      throw e;
    }
    handle = opened;
    return opened;
  }

  @Override
  public synchronized void close() {
    pool.close();
    handle.close();
  }
}

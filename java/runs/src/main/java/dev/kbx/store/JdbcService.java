package dev.kbx.store;

import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;

/** The service's part of a {@link JdbcStore}. */
final class JdbcService implements ServiceStore {
  private static final String SUBMISSION =
      "SELECT id, client, client_key, run, accepted_for, suite, task, method, model, sample, round,"
          + " candidate, conditions, origin, priority, submitted, deadline, session, state,"
          + " position, cached, waited, message FROM submission ";

  private static final String INSERT =
      """
      INSERT INTO submission (id, client, client_key, run, accepted_for, identity, candidate,
        suite, task, method, model, sample, round, conditions, origin, priority, submitted,
        deadline, session, state, position, cached, waited, message)
      VALUES (:id, :client, :key, :run, :acceptedFor, :identity, :candidate, :suite, :task,
        :method, :model, :sample, :round, :conditions, :origin, :priority, :submitted,
        :deadline, :session, :state, :position, :cached, :waited, :message)
      """;

  /** Puts it in the place of a failed one. */
  private static final String RETRY =
      INSERT
          + """
          ON CONFLICT (id) DO UPDATE SET run = excluded.run, accepted_for = excluded.accepted_for,
            conditions = excluded.conditions, origin = excluded.origin, priority = excluded.priority,
            submitted = excluded.submitted, deadline = excluded.deadline, state = excluded.state,
            position = excluded.position, cached = excluded.cached, waited = excluded.waited,
            message = excluded.message
          WHERE submission.state = 'failed'
          """;

  private static final String WORK =
      """
      SELECT s.*, c.code, v.position AS place, v.status AS status
      FROM submission s JOIN source c ON c.candidate = s.candidate
        LEFT JOIN verdict v ON v.run = s.run AND v.identity = s.identity
      WHERE s.id = :id
      """;

  private static final int MOST_VALUES = 500;

  private static final TypeReference<Map<String, String>> WORDS = new TypeReference<>() {};

  private final JdbcStore store;
  private final Database database;

  JdbcService(JdbcStore store, Database database) {
    this.store = store;
    this.database = database;
  }

  @Override
  public void accept(
      List<Submission> fresh, List<Submission> again, Map<String, String> sources, Audit audit) {
    store.write(h -> {
      PreparedBatch texts =
          h.prepareBatch(
              "INSERT INTO source (candidate, code) VALUES (:c, :code) ON CONFLICT DO NOTHING");
      sources.forEach(
          (hash, code) -> texts.bind("c", hash).bind("code", database.stored(code)).add());
      if (texts.size() > 0) texts.execute();
      insert(h, INSERT, fresh);
      insert(h, RETRY, again);
      insert(h, audit);
    });
  }

  private void insert(Handle h, String statement, List<Submission> submissions) {
    if (submissions.isEmpty()) return;
    PreparedBatch rows = h.prepareBatch(statement);
    for (Submission each : submissions) {
      CandidateIdentity identity = each.identity();
      bind(rows, each)
          .bind("client", each.client())
          .bind("key", stored(each.key()))
          .bind("run", each.run())
          .bind("acceptedFor", each.acceptedFor())
          .bind("identity", database.stored(identity.text()))
          .bind("candidate", identity.source())
          .bind("suite", identity.suite())
          .bind("task", identity.task())
          .bind("method", stored(identity.method()))
          .bind("model", stored(identity.model()))
          .bind("sample", identity.sample())
          .bind("round", identity.round())
          .bind("conditions", database.stored(Json.mapper().writeValueAsString(each.conditions())))
          .bind("origin", database.stored(each.origin()))
          .bind("priority", each.priority())
          .bind("submitted", each.submitted().toString())
          .bind("deadline", text(each.deadline()))
          .bind("session", each.session())
          .add();
    }
    rows.execute();
  }

  /** Binds which it is, and what became of it. */
  private PreparedBatch bind(PreparedBatch rows, Submission each) {
    Submission.Outcome outcome = each.outcome();
    return rows.bind("id", each.id())
        .bind("state", label(outcome.state()))
        .bind("position", outcome.position())
        .bind("cached", outcome.cached() ? 1 : 0)
        .bind("waited", outcome.waited())
        .bind("message", stored(outcome.message()));
  }

  @Override
  public void probe() {
    store.use(database::probe);
  }

  @Override
  public void settle(List<Submission> submissions) {
    if (submissions.isEmpty()) return;
    store.write(h -> {
      PreparedBatch rows =
          h.prepareBatch(
              "UPDATE submission SET state = :state, position = :position, cached = :cached,"
                  + " waited = :waited, message = :message WHERE id = :id");
      submissions.forEach(each -> bind(rows, each).add());
      rows.execute();
    });
  }

  @Override
  public void assign(List<Submission> submissions) {
    if (submissions.isEmpty()) return;
    store.write(h -> {
      PreparedBatch rows =
          h.prepareBatch(
              "UPDATE submission SET run = :run, accepted_for = :acceptedFor, message = :message"
                  + " WHERE id = :id AND state = 'queued'");
      for (Submission each : submissions) {
        rows.bind("id", each.id())
            .bind("run", each.run())
            .bind("acceptedFor", each.acceptedFor())
            .bind("message", stored(each.outcome().message()))
            .add();
      }
      rows.execute();
    });
  }

  @Override
  public List<Submission> queued() {
    return store.get(h ->
        h.createQuery(SUBMISSION + "WHERE state = 'queued' ORDER BY id")
            .map((row, _) -> submission(row))
            .list());
  }

  @Override
  public List<Submission> submissions(List<String> ids) {
    if (ids.isEmpty()) return List.of();
    return store.get(h ->
        h.createQuery(SUBMISSION + "WHERE id IN (<ids>)")
            .bindList("ids", ids)
            .map((row, _) -> submission(row))
            .list());
  }

  @Override
  public Optional<Work> work(String id) {
    return store.get(h ->
        h.createQuery(WORK)
            .bind("id", id)
            .map((row, _) ->
                new Work(submission(row), database.original(row.getString("code")), place(row)))
            .findFirst());
  }

  private static @Nullable Place place(ResultSet row) throws SQLException {
    String status = row.getString("status");
    if (status == null) return null;
    return new Place(row.getInt("place"), !status.equals(Status.INFRASTRUCTURE.label()));
  }

  @Override
  public Map<String, Submission> keyed(String client, Collection<String> keys) {
    if (keys.isEmpty()) return Map.of();
    Map<String, Submission> found = new HashMap<>();
    List<String> stored = keys.stream().map(database::stored).toList();
    store.use(h -> {
      for (List<String> part : parts(stored)) {
        h.createQuery(SUBMISSION + "WHERE client = :client AND client_key IN (<keys>)")
            .bind("client", client)
            .bindList("keys", part)
            .map((row, _) -> submission(row))
            .forEach(each -> found.put(String.valueOf(each.key()), each));
      }
    });
    return found;
  }

  /** Splits values into as many as a statement may have on every database. */
  private static <T> List<List<T>> parts(List<T> all) {
    return IntStream.iterate(0, from -> from < all.size(), from -> from + MOST_VALUES)
        .mapToObj(from -> all.subList(from, Math.min(all.size(), from + MOST_VALUES)))
        .toList();
  }

  @Override
  public List<Submission> submissions(
      @Nullable String run, Submission.@Nullable State state, @Nullable String before, int limit) {
    List<String> conditions = new ArrayList<>(List.of("(session IS NULL OR round IS NULL)"));
    if (run != null) conditions.add("run = :run");
    if (state != null) conditions.add("state = :state");
    if (before != null) conditions.add("id < :before");
    String where = "WHERE " + String.join(" AND ", conditions);
    return store.get(h -> {
      Query query = h.createQuery(SUBMISSION + where + " ORDER BY id DESC LIMIT :limit");
      if (run != null) query.bind("run", run);
      if (state != null) query.bind("state", label(state));
      if (before != null) query.bind("before", before);
      return query.bind("limit", limit).map((row, _) -> submission(row)).list();
    });
  }

  /** The submission in a row that has all columns. */
  Submission submission(ResultSet row) throws SQLException {
    CandidateIdentity identity =
        new CandidateIdentity(
            row.getString("suite"),
            row.getString("task"),
            original(row.getString("method")),
            original(row.getString("model")),
            row.getInt("sample"),
            (Integer) row.getObject("round"),
            row.getString("candidate"));
    return new Submission(
        row.getString("id"),
        row.getString("client"),
        original(row.getString("client_key")),
        row.getString("run"),
        row.getString("accepted_for"),
        identity,
        Json.mapper().readValue(database.original(row.getString("conditions")), WORDS),
        database.original(row.getString("origin")),
        row.getInt("priority"),
        Instant.parse(row.getString("submitted")),
        time(row.getString("deadline")),
        row.getString("session"),
        new Submission.Outcome(
            Submission.State.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
            (Integer) row.getObject("position"),
            row.getInt("cached") == 1,
            (Double) row.getObject("waited"),
            original(row.getString("message"))));
  }

  @Override
  public Map<CandidateIdentity, Integer> judged(
      String run, Collection<CandidateIdentity> identities) {
    Map<String, CandidateIdentity> wanted = new HashMap<>();
    identities.forEach(each -> wanted.put(database.stored(each.text()), each));
    Map<CandidateIdentity, Integer> found = new HashMap<>();
    store.use(h -> {
      for (List<String> part : parts(List.copyOf(wanted.keySet()))) {
        h.createQuery(
                "SELECT identity, position FROM verdict WHERE run = :run"
                    + " AND identity IN (<identities>) AND status <> 'infrastructure'")
            .bind("run", run)
            .bindList("identities", part)
            .map((row, _) -> Map.entry(row.getString(1), row.getInt(2)))
            .forEach(each -> {
              CandidateIdentity identity = wanted.get(each.getKey());
              if (identity != null) found.put(identity, each.getValue());
            });
      }
    });
    return found;
  }

  @Override
  public int end(String run) {
    return store.get(h ->
        h.createQuery("SELECT coalesce(max(position) + 1, 0) FROM verdict WHERE run = :run")
            .bind("run", run)
            .mapTo(Integer.class)
            .one());
  }

  @Override
  public Stored add(int position, Verdict verdict, boolean again) {
    return store.put(position, verdict, null, again);
  }

  @Override
  public List<Stored> verdicts(String run, List<Integer> positions) {
    if (positions.isEmpty()) return List.of();
    return store.get(h ->
        h.createQuery(
                "SELECT position, body FROM verdict WHERE run = :run AND position IN (<positions>)"
                    + " ORDER BY position")
            .bind("run", run)
            .bindList("positions", positions)
            .map((row, _) -> new Stored(row.getInt(1), row.getString(2)))
            .list());
  }

  @Override
  public List<Stored> verdicts(
      String run, @Nullable String status, @Nullable String task, int from, int limit) {
    StringBuilder where = new StringBuilder("WHERE run = :run AND position >= :from");
    if (status != null) where.append(" AND status = :status");
    if (task != null) where.append(" AND (task = :task OR category || '/' || task = :task)");
    return store.get(h -> {
      Query query =
          h.createQuery(
                  "SELECT position, body FROM verdict " + where + " ORDER BY position LIMIT :limit")
              .bind("run", run)
              .bind("from", from)
              .bind("limit", limit);
      if (status != null) query.bind("status", status);
      if (task != null) query.bind("task", task);
      return query.map((row, _) -> new Stored(row.getInt(1), row.getString(2))).list();
    });
  }

  @Override
  public List<Integer> positions(String run, int from) {
    return store.get(h ->
        h.createQuery(
                "SELECT position FROM verdict WHERE run = :run AND position >= :from"
                    + " ORDER BY position")
            .bind("run", run)
            .bind("from", from)
            .mapTo(Integer.class)
            .list());
  }

  @Override
  public Optional<ServiceRun> serviceRun(String settings) {
    return serviceRun("settings", settings);
  }

  @Override
  public Optional<ServiceRun> serviceRunOf(String run) {
    return serviceRun("run", run);
  }

  private Optional<ServiceRun> serviceRun(String column, String value) {
    return store.get(h ->
        h.createQuery(
                "SELECT settings, run, name, plan FROM service_run WHERE %s = :v".formatted(column))
            .bind("v", value)
            .map((row, _) ->
                new ServiceRun(
                    row.getString(1), row.getString(2), row.getString(3), row.getString(4)))
            .findFirst());
  }

  @Override
  public void begin(ServiceRun service, RunInfo run) {
    store.write(h -> {
      JdbcStore.insert(h, run);
      h.createUpdate("INSERT INTO service_run (settings, run, name, plan) VALUES (:s, :r, :n, :p)")
          .bind("s", service.settings())
          .bind("r", service.run())
          .bind("n", service.name())
          .bind("p", service.plan())
          .execute();
    });
  }

  @Override
  public boolean addToken(Token token) {
    return store.change(h ->
        h.createUpdate(
                    """
                    INSERT INTO token (name, hash, scopes, created, expires)
                    VALUES (:n, :h, :s, :c, :e)
                    ON CONFLICT (name) DO UPDATE SET hash = excluded.hash,
                      scopes = excluded.scopes, created = excluded.created,
                      expires = excluded.expires, revoked = NULL
                    WHERE token.revoked IS NOT NULL OR token.expires <= excluded.created
                    """)
                .bind("n", token.name())
                .bind("h", token.hash())
                .bind("s", String.join(",", token.scopes()))
                .bind("c", token.created().toString())
                .bind("e", text(token.expires()))
                .execute()
            == 1);
  }

  @Override
  public List<Token> tokens() {
    return store.get(h ->
        h.createQuery(
                "SELECT name, hash, scopes, created, expires, revoked FROM token ORDER BY name")
            .map((row, _) ->
                new Token(
                    row.getString(1),
                    row.getString(2),
                    List.of(row.getString(3).split(",", -1)),
                    Instant.parse(row.getString(4)),
                    time(row.getString(5)),
                    time(row.getString(6))))
            .list());
  }

  @Override
  public boolean revokeToken(String name, Instant at) {
    return store.change(h ->
        h.createUpdate("UPDATE token SET revoked = :at WHERE name = :n AND revoked IS NULL")
                .bind("at", at.toString())
                .bind("n", name)
                .execute()
            == 1);
  }

  @Override
  public void audit(Audit audit) {
    store.write(h -> insert(h, audit));
  }

  private void insert(Handle h, Audit audit) {
    h.createUpdate("INSERT INTO audit (at, client, action, detail) VALUES (:at, :c, :a, :d)")
        .bind("at", audit.at().toString())
        .bind("c", audit.client())
        .bind("a", audit.action())
        .bind("d", database.stored(audit.detail()))
        .execute();
  }

  @Override
  public List<Audit> audits(int limit) {
    return store.get(h ->
        h.createQuery("SELECT at, client, action, detail FROM audit ORDER BY at DESC LIMIT :l")
            .bind("l", limit)
            .map((row, _) ->
                new Audit(
                    Instant.parse(row.getString(1)),
                    row.getString(2),
                    row.getString(3),
                    database.original(row.getString(4))))
            .list());
  }

  private @Nullable String stored(@Nullable String text) {
    return text == null ? null : database.stored(text);
  }

  private @Nullable String original(@Nullable String text) {
    return text == null ? null : database.original(text);
  }

  private static @Nullable String text(@Nullable Instant time) {
    return time == null ? null : time.toString();
  }

  private static @Nullable Instant time(@Nullable String text) {
    return text == null ? null : Instant.parse(text);
  }

  private static String label(Submission.State state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}

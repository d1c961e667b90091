package dev.kbx.store;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/** The sessions of a {@link JdbcStore}. */
final class JdbcSessions implements SessionStore {
  private static final String SESSION =
      "SELECT id, client, client_key, run, suite, task, method, sample, settings, start, begun,"
          + " state, ended, answer, why FROM session ";

  private static final String BEGIN =
      """
      INSERT INTO session (id, client, client_key, run, suite, task, method, sample, settings,
        start, begun, state)
      SELECT :id, :client, :key, :run, :suite, :task, :method,
        (SELECT coalesce(max(sample) + 1, 0) FROM session
          WHERE run = :run AND method = :method AND task = :task),
        :settings, :start, :begun, 'open'
      """;

  private static final String TURNS =
      """
      SELECT s.*, t.judgement, t.judged FROM submission s LEFT JOIN turn t ON t.submission = s.id
      WHERE s.session = :session AND s.round IS NOT NULL ORDER BY s.round
      """;

  private final JdbcStore store;
  private final Database database;
  private final JdbcService service;

  JdbcSessions(JdbcStore store, Database database) {
    this.store = store;
    this.database = database;
    this.service = new JdbcService(store, database);
  }

  @Override
  public Session begin(Session session) {
    store.write(h -> {
      int _ =
          h.createUpdate(BEGIN)
              .bind("id", session.id())
              .bind("client", session.client())
              .bind("key", stored(session.key()))
              .bind("run", session.run())
              .bind("suite", session.suite())
              .bind("task", session.task())
              .bind("method", database.stored(session.method()))
              .bind("settings", database.stored(session.settings()))
              .bind("start", stored(session.start()))
              .bind("begun", session.begun().toString())
              .execute();
    });
    return session(session.id()).orElseThrow();
  }

  @Override
  public Optional<Session> session(String id) {
    return first("WHERE id = :a", id);
  }

  @Override
  public Optional<Session> keyed(String client, String key) {
    return first("WHERE client = :a AND client_key = :b", client, database.stored(key));
  }

  @Override
  public Optional<Session> newest(String run, String method) {
    return first(
        "WHERE run = :a AND method = :b ORDER BY id DESC LIMIT 1", run, database.stored(method));
  }

  private Optional<Session> first(String where, String... values) {
    return store.get(h -> {
      Query query = h.createQuery(SESSION + where);
      for (int i = 0; i < values.length; i++) query.bind(i == 0 ? "a" : "b", values[i]);
      return query.map((row, _) -> session(row)).findFirst();
    });
  }

  private Session session(ResultSet row) throws SQLException {
    return new Session(
        row.getString("id"),
        row.getString("client"),
        original(row.getString("client_key")),
        row.getString("run"),
        row.getString("suite"),
        row.getString("task"),
        database.original(row.getString("method")),
        row.getInt("sample"),
        database.original(row.getString("settings")),
        original(row.getString("start")),
        Instant.parse(row.getString("begun")),
        new Session.End(
            Session.State.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
            time(row.getString("ended")),
            (Integer) row.getObject("answer"),
            original(row.getString("why"))));
  }

  @Override
  public int open(String client, Instant since) {
    return store.get(h ->
        h.createQuery(
                "SELECT count(*) FROM session WHERE client = :c AND state = 'open' AND begun >"
                    + " :since")
            .bind("c", client)
            .bind("since", since.toString())
            .mapTo(Integer.class)
            .one());
  }

  @Override
  public void end(Session session) {
    Session.End end = session.end();
    store.write(h -> {
      int _ =
          h.createUpdate(
                  "UPDATE session SET state = :state, ended = :at, answer = :answer, why = :why"
                      + " WHERE id = :id")
              .bind("state", end.state().name().toLowerCase(Locale.ROOT))
              .bind("at", end.at() == null ? null : end.at().toString())
              .bind("answer", end.answer())
              .bind("why", stored(end.why()))
              .bind("id", session.id())
              .execute();
    });
  }

  @Override
  public List<Session> of(String run) {
    return store.get(h ->
        h.createQuery(SESSION + "WHERE run = :run ORDER BY id")
            .bind("run", run)
            .map((row, _) -> session(row))
            .list());
  }

  @Override
  public List<Session.Turn> turns(String session) {
    return store.get(h ->
        h.createQuery(TURNS)
            .bind("session", session)
            .map((row, _) ->
                new Session.Turn(
                    service.submission(row),
                    original(row.getString("judgement")),
                    time(row.getString("judged"))))
            .list());
  }

  @Override
  public boolean isJudged(String submission) {
    return store.get(h ->
        h.createQuery("SELECT 1 FROM turn WHERE submission = :s")
            .bind("s", submission)
            .mapTo(Integer.class)
            .findFirst()
            .isPresent());
  }

  @Override
  public void judged(String submission, String judgement, Instant at) {
    store.write(h -> insert(h, submission, judgement, at));
  }

  private void insert(Handle h, String submission, String judgement, Instant at) {
    h.createUpdate("INSERT INTO turn (submission, judgement, judged) VALUES (:s, :j, :at)")
        .bind("s", submission)
        .bind("j", database.stored(judgement))
        .bind("at", at.toString())
        .execute();
  }

  private @Nullable String stored(@Nullable String text) {
    return text == null ? null : database.stored(text);
  }

  private @Nullable String original(@Nullable String text) {
    return text == null ? null : database.original(text);
  }

  private static @Nullable Instant time(@Nullable String text) {
    return text == null ? null : Instant.parse(text);
  }
}

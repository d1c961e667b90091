package dev.kbx.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.SimulatedRun;
import dev.kbx.TestPostgres;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.SourceFeatures;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/** What every store does, on SQLite and on a real PostgreSQL. */
class RunStoreTest {
  enum Kind {
    SQLITE,
    POSTGRESQL
  }

  @TempDir private Path folder;
  private final List<RunStore> opened = new ArrayList<>();
  private int files;

  @AfterEach
  void close() {
    opened.forEach(RunStore::close);
  }

  private StoreAddress address(Kind kind) {
    return switch (kind) {
      case SQLITE -> StoreAddress.of(folder.resolve("kbx" + files++ + ".db"));
      case POSTGRESQL -> StoreAddress.of(TestPostgres.newDatabase());
    };
  }

  private RunStore open(StoreAddress address) {
    RunStore store = RunStore.open(address);
    opened.add(store);
    return store;
  }

  private RunStore open(Kind kind) {
    return open(address(kind));
  }

  private static SimulatedRun run(int number) {
    return SimulatedRun.on(SimulatedRun.A100, number)
        .by("one-shot")
        .correct("Activation/gelu", "a" + number, 2.0)
        .wrong("Activation/relu", "b" + number, Status.WRONG_VALUES)
        .by("refined")
        .correct("Activation/gelu", "c" + number, 3.0)
        .correct("Math/exp", "d" + number, 1.0);
  }

  private static List<String> lines(RunStore store, String run) {
    List<String> lines = new ArrayList<>();
    store.forEach(run, stored -> lines.add(stored.json()));
    return lines;
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void storedVerdictsAreReadByteForByte(Kind kind) {
    StoreAddress address = address(kind);
    SimulatedRun run = run(1);
    RunStore store = open(address);
    run.store(store);
    run(2).cutOff(3).store(store);
    RunStore again = open(address);
    assertThat(lines(again, run.id()))
        .isEqualTo(run.verdicts().stream().map(Json.mapper()::writeValueAsString).toList());
    assertThat(again.count(run.id())).isEqualTo(4);
    assertThat(again.runs()).extracting(RunInfo::id).containsExactly(run(2).id(), run.id());
    assertThat(again.run(run.id())).contains(run.info());
    assertThat(again.has("none")).isFalse();
    assertThat(again.judged(run.id()))
        .extracting(RunStore.Judged::identity)
        .containsExactlyInAnyOrderElementsOf(
            run.verdicts().stream().map(v -> v.provenance().identity()).toList());
    Verdict first = run.verdicts().getFirst();
    assertThat(again.verdict(run.id(), 0)).isEqualTo(first);
    assertThat(again.source(first.provenance().candidate())).contains("a1");
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void labelsSurviveTheEndOfARunAndAreCopied(Kind kind) {
    RunStore store = open(kind);
    SimulatedRun run = run(1).cutOff(1);
    RunInfo begun = run.info().labelled(new RunLabel("first", null));
    store.begin(begun);
    assertThat(store.run(run.id())).contains(begun);
    RunLabel changed = new RunLabel("second", "why\nnot");
    assertThat(store.label(run.id(), changed)).isTrue();
    assertThat(store.label("none", changed)).isFalse();
    store.finish(begun.finishedAt(begun.started()));
    assertThat(store.run(run.id()).orElseThrow().label()).isEqualTo(changed);
    assertThat(store.queries().runs(0, 9)).extracting(RunInfo::label).containsExactly(changed);
    RunStore copy = open(kind);
    var _ = copy.copy(List.of(RunStore.Selection.all(store)));
    assertThat(copy.runs()).extracting(RunInfo::label).containsExactly(changed);
    store.label(run.id(), RunLabel.NONE);
    assertThat(copy.copy(List.of(RunStore.Selection.all(store))))
        .as("it is the same run under another name")
        .extracting(RunStore.Copied::added)
        .containsExactly(false);
  }

  private static List<BriefVerdict> rows(RunStore store, String run) {
    List<BriefVerdict> rows = new ArrayList<>();
    store.forEachRow(run, stored -> rows.add(stored.verdict()));
    return rows;
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void rowsMissingFromEarlierVersionsAreDerived(Kind kind) throws Exception {
    StoreAddress address = address(kind);
    RunStore store = open(address);
    SimulatedRun run = run(1).store(store);
    List<BriefVerdict> expected = run.verdicts().stream().map(BriefVerdict::of).toList();
    assertThat(rows(store, run.id())).isEqualTo(expected);
    execute(address, "UPDATE verdict SET brief = NULL WHERE position > 1");
    assertThat(rows(store, run.id())).isEqualTo(expected);
    execute(address, "UPDATE verdict SET body = '{', brief = NULL WHERE position = 2");
    assertThatThrownBy(() -> rows(store, run.id()))
        .isInstanceOf(StoreProblem.class)
        .hasMessageContaining("run %s cannot be read".formatted(run.id()));
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void featuresAndConditionsAreInColumns(Kind kind) throws Exception {
    StoreAddress address = address(kind);
    SimulatedRun run =
        SimulatedRun.on(SimulatedRun.A100, 1)
            .under(Map.of("hardware", "true"))
            .featuring(new SourceFeatures("5f", 7, 30, List.of("fusion", "split_k")))
            .correct("Math/exp", "a", 2);
    run.store(open(address));
    run(2).store(open(address));
    List<String> found = new ArrayList<>();
    try (Connection connection = address.database().connect();
        ResultSet rows =
            connection
                .createStatement()
                .executeQuery(
                    "SELECT conditions, structure, complexity, techniques FROM verdict"
                        + " WHERE position = 0 ORDER BY run")) {
      while (rows.next()) {
        found.add(rows.getString(1) + rows.getString(2) + rows.getObject(3) + rows.getString(4));
      }
    }
    assertThat(found)
        .containsExactly("{\"hardware\":\"true\"}5f7fusion,split_k", "nullnullnullnull");
  }

  private static void execute(StoreAddress address, String sql) throws Exception {
    try (Connection connection = address.database().connect();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aCandidateHasOneVerdictAndOnePlace(Kind kind) {
    RunStore store = open(kind);
    SimulatedRun run = run(1).store(store);
    Verdict first = run.verdicts().getFirst();
    assertThatThrownBy(() -> store.add(0, run.verdicts().getLast(), "x"))
        .isInstanceOf(StoreProblem.class);
    assertThatThrownBy(() -> store.add(9, first, "a1")).isInstanceOf(StoreProblem.class);
    assertThat(store.count(run.id())).isEqualTo(4);
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void anySourceIsReadBack(Kind kind) {
    RunStore store = open(kind);
    for (String code : List.of("", "x = '\0'", "\uE000\uE0000\0 \uD83D\uDE00 \u2028")) {
      String id = "%064x".formatted(code.hashCode() & 0xffffffffL);
      SimulatedRun run =
          SimulatedRun.on(SimulatedRun.A100, 10 + code.length()).untimed("Math/exp", code);
      run.store(store);
      assertThat(store.source(id)).contains(code);
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aJudgementIsRememberedOnceForACardAndForgottenWithItsLastRun(Kind kind) {
    RunStore store = open(kind);
    SimulatedRun run = run(1).store(store);
    Verdict first = run.verdicts().getFirst();
    Judgement judgement = first.judgement();
    Judgement repeated = run.verdicts().get(1).judgement();
    Judgement elsewhere = on("GPU-elsewhere", judgement);
    for (Judgement each : List.of(judgement, repeated, elsewhere)) {
      store.remember("key", first.provenance().candidate(), each);
    }
    List<String> keys = List.of("other", "key");
    assertThat(store.remembered(keys, judgement.device()::equals)).contains(judgement);
    assertThat(store.remembered(keys, elsewhere.device()::equals)).contains(elsewhere);
    assertThat(store.remembered(keys, _ -> false)).isEmpty();
    assertThat(store.remembered(List.of("other"), _ -> true)).isEmpty();
    assertThat(store.remembered(List.of(), _ -> true)).isEmpty();
    assertThat(store.delete(List.of(run.id(), "none"))).isEqualTo(1);
    assertThat(store.remembered(keys, _ -> true)).isEmpty();
    assertThat(store.source(first.provenance().candidate())).isEmpty();
    assertThat(store.runs()).isEmpty();
  }

  private static Judgement on(String card, Judgement judgement) {
    ObjectNode body = Json.mapper().valueToTree(judgement);
    ((ObjectNode) body.get("device")).put("uuid", card);
    return Json.mapper().treeToValue(body, Judgement.class);
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void oneQueryCountsByMethodAndCategory(Kind kind) throws Exception {
    StoreAddress address = address(kind);
    run(1).store(open(address));
    List<String> rows = new ArrayList<>();
    try (Connection connection = address.database().connect();
        ResultSet found =
            connection
                .createStatement()
                .executeQuery(
                    """
                    SELECT method, category, count(*),
                           sum(CASE WHEN status = 'correct' THEN 1 ELSE 0 END), max(speedup), min(speedup_low)
                    FROM verdict GROUP BY method, category ORDER BY method, category
                    """)) {
      while (found.next()) {
        rows.add(
            "%s %s %d/%d %.1f %s"
                .formatted(
                    found.getString(1),
                    found.getString(2),
                    found.getInt(4),
                    found.getInt(3),
                    found.getDouble(5),
                    found.getDouble(6) < found.getDouble(5)));
      }
    }
    assertThat(rows)
        .containsExactly(
            "one-shot Activation 1/2 2.0 true",
            "refined Activation 1/1 3.0 true",
            "refined Math 1/1 1.0 true");
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void oneQueryGivesRatesOfBothGrades(Kind kind) throws Exception {
    StoreAddress address = address(kind);
    run(1).published("Math/log", "e").store(open(address));
    String query =
        "SELECT max(grade), sum(call_ok), sum(exe_ok), sum(published_ok), count(general_ok),"
            + " sum(general_ok) FROM verdict";
    try (Connection connection = address.database().connect();
        ResultSet found = connection.createStatement().executeQuery(query)) {
      assertThat(found.next()).isTrue();
      assertThat(found.getString(1)).isEqualTo("published");
      assertThat(List.of(2, 3, 4, 5, 6)).extracting(found::getInt).containsExactly(5, 4, 1, 4, 3);
    }
  }

  @Test
  void sqliteAndPostgresHaveEqualSchemas() throws Exception {
    assertThat(columns(Kind.POSTGRESQL, "information_schema.columns WHERE table_schema = 'kbx'"))
        .isNotEmpty()
        .isEqualTo(columns(Kind.SQLITE, "columns"));
  }

  private List<String> columns(Kind kind, String from) throws Exception {
    StoreAddress address = address(kind);
    var _ = open(address);
    String query =
        kind == Kind.SQLITE
            ? "SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c"
                + " WHERE m.type = 'table'"
            : "SELECT table_name || '.' || column_name FROM " + from;
    List<String> found = new ArrayList<>();
    try (Connection connection = address.database().connect();
        ResultSet rows = connection.createStatement().executeQuery(query)) {
      while (rows.next()) found.add(rows.getString(1));
    }
    return found.stream().filter(c -> !c.startsWith("flyway")).sorted().toList();
  }

  @Test
  void sharedRunIsClaimedByOneProcess() {
    StoreAddress address = address(Kind.POSTGRESQL);
    RunStore one = open(address);
    RunStore other = open(address);
    one.claim("r");
    assertThat(other.isClaimed("r")).isTrue();
    assertThat(one.isClaimed("r")).isTrue();
    assertThat(other.isClaimed("another")).isFalse();
    other.claim("another");
    assertThatThrownBy(() -> other.claim("r"))
        .isInstanceOf(StoreProblem.class)
        .hasMessageContaining("run r is being judged by another kbx");
    one.close();
    other.claim("r");
  }

  @Test
  void lostConnectionFailsOnceAndReconnects() throws Exception {
    StoreAddress address = address(Kind.POSTGRESQL);
    RunStore store = open(address);
    SimulatedRun run = run(1).store(store);
    store.claim(run.id());
    try (Connection connection = address.database().connect();
        var statement = connection.createStatement()) {
      statement.execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
              + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    }
    assertThatThrownBy(() -> store.count(run.id())).isInstanceOf(StoreProblem.class);
    assertThat(store.count(run.id())).isEqualTo(4);
    RunStore other = open(address);
    assertThatThrownBy(() -> other.claim(run.id())).isInstanceOf(StoreProblem.class);
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void runsAreCopiedBothWays(Kind kind) {
    RunStore here = open(Kind.SQLITE);
    SimulatedRun one = run(1).store(here);
    SimulatedRun two = run(2).cutOff(2).store(here);
    RunStore there = open(kind);
    List<RunStore.Selection> runs = List.of(RunStore.Selection.all(here));
    assertThat(there.copy(runs)).allMatch(RunStore.Copied::added);
    assertThat(there.copy(runs)).noneMatch(RunStore.Copied::added);
    RunStore back = open(Kind.SQLITE);
    assertThat(back.copy(List.of(RunStore.Selection.all(there)))).hasSize(2);
    for (SimulatedRun run : List.of(one, two)) {
      assertThat(lines(back, run.id())).isEqualTo(lines(here, run.id()));
      assertThat(rows(back, run.id())).isEqualTo(rows(here, run.id()));
      assertThat(back.run(run.id())).isEqualTo(Optional.of(run.info()));
      for (Verdict verdict : run.verdicts()) {
        assertThat(back.source(verdict.provenance().candidate()))
            .isEqualTo(here.source(verdict.provenance().candidate()));
      }
    }
  }

  /** Also names that PostgreSQL cannot keep as they are. */
  @ParameterizedTest
  @EnumSource(Kind.class)
  void copiedRunsAreCountedAndFilteredAsTheOriginals(Kind kind) {
    RunStore here = open(Kind.SQLITE);
    SimulatedRun one =
        run(1).model("m\0").by("\uE000").wrong("Math/log", "e", Status.CRASHED).store(here);
    SimulatedRun two = run(2).cutOff(2).store(here);
    RunStore there = open(kind);
    assertThat(there.copy(List.of(RunStore.Selection.all(here)))).hasSize(2);
    RunStore back = open(Kind.SQLITE);
    assertThat(back.copy(List.of(RunStore.Selection.all(there)))).hasSize(2);
    List<String> runs = List.of(one.id(), two.id());
    VerdictQueries.Filter filter =
        new VerdictQueries.Filter(one.id(), null, null, null, null, null, "m\0");
    for (RunStore copy : List.of(there, back, here)) {
      assertThat(copy.flaws()).isEmpty();
      assertThat(copy.queries().counts(runs)).isEqualTo(here.queries().counts(runs)).hasSize(2);
      assertThat(copy.queries().names(one.id())).isEqualTo(here.queries().names(one.id()));
      assertThat(copy.queries().count(filter)).isEqualTo(1);
      assertThat(copy.queries().page(filter, VerdictQueries.Order.POSITION, 0, 9)).hasSize(1);
      assertThat(copy.judged(one.id())).containsExactlyInAnyOrderElementsOf(here.judged(one.id()));
      assertThat(copy.delete(List.of(two.id()))).isEqualTo(1);
      assertThat(copy.flaws()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void derivedColumnsAreCheckedAndRepaired(Kind kind) throws Exception {
    StoreAddress address = address(kind);
    RunStore store = open(address);
    SimulatedRun run = run(1).store(store);
    assertThat(store.flaws()).isEmpty();
    List<BriefVerdict> rows = rows(store, run.id());
    for (String damage :
        List.of(
            "UPDATE verdict SET status = 'crashed', speedup = 7 WHERE position = 0",
            "UPDATE verdict SET brief = replace(brief, 'relu', 'gelu') WHERE position = 1",
            "INSERT INTO source (candidate, code) VALUES ('unused', 'x = 1')",
            """
            INSERT INTO submission (id, client, run, identity, candidate, suite, task, sample,
              conditions, origin, priority, submitted, state, position, cached)
            SELECT 's' || position, 'c', run, CASE position WHEN 0 THEN identity ELSE 'none' END,
              candidate, suite, task, sample, '{}', 'o', 0, '2026-11-28T12:00:00Z', 'done', 3, 0
            FROM verdict WHERE position < 2
            """)) {
      execute(address, damage);
    }
    assertThat(store.flaws())
        .containsExactly(
            new StoreFlaw("verdicts whose columns differ from their body", 2, true),
            new StoreFlaw("submissions done without a verdict", 2, true),
            new StoreFlaw("sources that nothing uses", 1, true));
    store.mend();
    assertThat(store.flaws()).isEmpty();
    assertThat(rows(store, run.id())).isEqualTo(rows);
    assertThat(store.source("unused")).isEmpty();
    assertThat(store.service().submissions(List.of("s0", "s1")))
        .extracting(each -> each.state() + " " + each.outcome().position())
        .containsExactlyInAnyOrder("DONE 0", "QUEUED null");
    execute(address, "UPDATE verdict SET body = '{' WHERE position = 2");
    StoreFlaw lasting = new StoreFlaw("verdicts that cannot be read", 1, false);
    assertThat(store.flaws()).containsExactly(lasting);
    store.mend();
    assertThat(store.flaws()).containsExactly(lasting);
  }

  @Test
  void storeInUseByAServerIsNotRepaired() {
    StoreAddress address = StoreAddress.of(TestPostgres.newDatabase());
    RunStore server = open(address);
    server.claim(ServiceStore.CLAIM);
    assertThatThrownBy(open(address)::mend).isInstanceOf(StoreProblem.class);
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void differentRunUnderTheSameIdIsRefusedWithoutCopying(Kind kind) {
    RunStore here = open(Kind.SQLITE);
    run(1).store(here);
    run(2).store(here);
    RunStore there = open(kind);
    SimulatedRun.on(SimulatedRun.A100, 2).untimed("Math/exp", "other").store(there);
    RunStore first = open(Kind.SQLITE);
    run(3).store(first);
    List<RunStore.Selection> runs =
        List.of(RunStore.Selection.all(first), RunStore.Selection.all(here));
    assertThatThrownBy(() -> there.copy(runs))
        .isInstanceOf(RunConflict.class)
        .hasMessageContaining(run(2).id());
    assertThat(there.runs()).extracting(RunInfo::id).containsExactly(run(2).id());
  }

  @Test
  void unwritableTargetStoreIsNamed() throws Exception {
    RunStore here = open(Kind.SQLITE);
    run(1).store(here);
    StoreAddress full = address(Kind.SQLITE);
    RunStore there = open(full);
    try (Connection connection = full.database().connect();
        var statement = connection.createStatement()) {
      statement.execute(
          "CREATE TRIGGER full BEFORE INSERT ON verdict BEGIN SELECT RAISE(ABORT, 'full'); END");
    }
    assertThatThrownBy(() -> there.copy(List.of(RunStore.Selection.all(here))))
        .isInstanceOf(StoreProblem.class)
        .hasMessageStartingWith(there.label() + ": ");
    assertThat(there.runs()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://127.0.0.1:1/kbx?user=ann&password=hush&ssl=false",
        "jdbc:postgresql://none.invalid/kbx?password=hush",
      })
  void unreachableDatabaseIsNamedWithoutItsPassword(String url) {
    assertThatThrownBy(() -> RunStore.open(StoreAddress.of(url)))
        .isInstanceOf(StoreProblem.class)
        .hasMessageStartingWith("jdbc:postgresql://")
        .hasMessageMatching(".*(refused|there is no host none.invalid).*")
        .hasMessageNotContaining("hush");
  }

  @Test
  void otherAddressesAreRefused() {
    assertThatThrownBy(() -> StoreAddress.of("mysql://ann:hush@host/kbx"))
        .hasMessage("mysql://ann:***@host/kbx: must be jdbc:postgresql://HOST/DATABASE");
    assertThatThrownBy(() -> StoreAddress.of("jdbc:postgresql://ann:hush@host/kbx"))
        .hasMessageStartingWith("jdbc:postgresql://ann:***@host/kbx: give the user as ?user=");
  }
}

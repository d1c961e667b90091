package dev.kbx.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.kbx.SimulatedRun;
import dev.kbx.TestPostgres;
import dev.kbx.store.VerdictQueries.Board;
import dev.kbx.store.VerdictQueries.CategoryCounts;
import dev.kbx.store.VerdictQueries.Cell;
import dev.kbx.store.VerdictQueries.Filter;
import dev.kbx.store.VerdictQueries.Order;
import dev.kbx.store.VerdictQueries.Placed;
import dev.kbx.store.VerdictQueries.RunCounts;
import dev.kbx.store.VerdictQueries.TaskCounts;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the pages ask of every store, on SQLite and on a real PostgreSQL. */
class VerdictQueriesTest {
  enum Kind {
    SQLITE,
    POSTGRESQL
  }

  private static final String GPU = SimulatedRun.A100.name();

  @TempDir private Path folder;
  private @Nullable RunStore opened;

  @AfterEach
  void close() {
    if (opened == null) return;
    assertThat(opened.flaws()).isEmpty();
    opened.close();
  }

  private static SimulatedRun first() {
    return SimulatedRun.on(SimulatedRun.A100, 1)
        .by("one-shot")
        .correct("Activation/gelu", "a", 2.5)
        .wrong("Activation/relu", "b", Status.WRONG_VALUES)
        .by("refined")
        .model("m\0")
        .correct("Activation/gelu", "c", 1.5)
        .wrong("Math/exp", "d", Status.INFRASTRUCTURE);
  }

  private static SimulatedRun second() {
    return SimulatedRun.on(SimulatedRun.A100, 2)
        .by("one-shot")
        .correct("Activation/relu", "b", 0.5)
        .correct("Activation/gelu", "e", 3)
        .cutOff(3);
  }

  private VerdictQueries queries(Kind kind) {
    RunStore store =
        RunStore.open(
            switch (kind) {
              case SQLITE -> StoreAddress.of(folder.resolve("kbx.db"));
              case POSTGRESQL -> StoreAddress.of(TestPostgres.newDatabase());
            });
    opened = store;
    first().store(store);
    second().store(store);
    return store.queries();
  }

  private static List<String> names(List<Placed> placed) {
    List<String> names = new ArrayList<>();
    for (Placed each : placed) {
      names.add(
          "%s %d %s/%s"
              .formatted(
                  each.verdict().run().substring(13, 15),
                  each.position(),
                  each.verdict().category(),
                  each.verdict().task()));
    }
    return names;
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void runsComeNewestFirstAndInPages(Kind kind) {
    VerdictQueries queries = queries(kind);
    String one = first().id();
    String two = second().id();
    assertThat(queries.runs()).isEqualTo(2);
    assertThat(queries.runs(0, 9)).extracting(RunInfo::id).containsExactly(two, one);
    assertThat(queries.runs(1, 9)).extracting(RunInfo::id).containsExactly(one);
    assertThat(queries.unfinished(9)).extracting(RunInfo::id).containsExactly(two);
    assertThat(queries.counts(List.of(one, two, "none")))
        .containsOnly(
            entry(
                one,
                new RunCounts(
                    4,
                    3,
                    3,
                    2,
                    2,
                    2,
                    1,
                    Map.of(Status.CORRECT, 2, Status.WRONG_VALUES, 1, Status.INFRASTRUCTURE, 1),
                    List.of(
                        new CategoryCounts("Activation", 3, 2), new CategoryCounts("Math", 0, 0)))),
            entry(
                two,
                new RunCounts(
                    2,
                    2,
                    2,
                    2,
                    2,
                    2,
                    2,
                    Map.of(Status.CORRECT, 2),
                    List.of(new CategoryCounts("Activation", 2, 2)))));
    assertThat(queries.counts(List.of())).isEmpty();
    assertThat(queries.names(one).methods()).containsExactly("one-shot", "refined");
    assertThat(queries.names(one).models()).containsExactly("", "m\0");
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void replacementVerdictIsCountedInsteadOfTheOriginal(Kind kind) {
    VerdictQueries queries = queries(kind);
    String run = first().id();
    Verdict judged =
        SimulatedRun.on(SimulatedRun.A100, 1)
            .by("refined")
            .model("m\0")
            .correct("Math/exp", "d", 2)
            .verdicts()
            .getFirst();
    Stored _ = Objects.requireNonNull(opened).service().add(3, judged, true);
    RunCounts counts = Objects.requireNonNull(queries.counts(List.of(run)).get(run));
    assertThat(counts.statuses())
        .containsOnly(entry(Status.CORRECT, 3), entry(Status.WRONG_VALUES, 1));
    assertThat(counts.verdicts()).isEqualTo(4);
    assertThat(counts.judged()).isEqualTo(4);
    assertThat(counts.solved()).isEqualTo(2);
    assertThat(counts.categories())
        .containsExactly(new CategoryCounts("Activation", 3, 2), new CategoryCounts("Math", 1, 1));
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void pageHasTheMatchingCandidates(Kind kind) {
    VerdictQueries queries = queries(kind);
    Filter all = Filter.ofRun(first().id());
    assertThat(names(queries.page(all, Order.POSITION, 1, 2)))
        .containsExactly("01 1 Activation/relu", "01 2 Activation/gelu");
    Filter model = new Filter(first().id(), null, null, null, Status.CORRECT, null, "m\0");
    assertThat(names(queries.page(model, Order.POSITION, 0, 9)))
        .containsExactly("01 2 Activation/gelu");
    assertThat(queries.count(model)).isEqualTo(1);
    Filter none = new Filter(first().id(), null, null, null, null, null, "");
    assertThat(queries.count(none)).isEqualTo(2);
    Filter task = Filter.ofTask("kernelbenchx", "Activation", "relu");
    assertThat(names(queries.page(task, Order.NEWEST, 0, 9)))
        .containsExactly("02 0 Activation/relu", "01 1 Activation/relu");
    assertThat(queries.stored(first().id(), 3).orElseThrow().verdict().judgement().status())
        .isEqualTo(Status.INFRASTRUCTURE);
    assertThat(queries.stored(first().id(), 4)).isEmpty();
    String source = first().verdicts().get(1).provenance().candidate();
    assertThat(names(queries.history(source, 9)))
        .containsExactly("02 0 Activation/relu", "01 1 Activation/relu");
    assertThat(queries.history("", 9)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void tasksHaveCountsAndRecords(Kind kind) {
    VerdictQueries queries = queries(kind);
    assertThat(queries.tasks("kernelbenchx"))
        .containsExactly(
            new TaskCounts("Activation", "gelu", 3, 3, 3.0),
            new TaskCounts("Activation", "relu", 2, 1, 0.5),
            new TaskCounts("Math", "exp", 1, 0, null));
    assertThat(queries.statuses("kernelbenchx", "Activation", "relu"))
        .isEqualTo(Map.of(Status.CORRECT, 1, Status.WRONG_VALUES, 1));
    assertThat(names(queries.records("kernelbenchx", "Activation", "gelu")))
        .containsExactly("01 0 Activation/gelu", "02 1 Activation/gelu");
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void leaderboardCountsTheLastVerdictOfASample(Kind kind) {
    VerdictQueries queries = queries(kind);
    assertThat(queries.boards()).containsExactly(new Board("kernelbenchx", null, GPU, 6));
    assertThat(queries.cells(queries.boards().getFirst()))
        .containsExactlyInAnyOrder(
            new Cell(
                "one-shot", null, "Activation", "gelu", 1, 1, true, 1, 1, 1, 1, List.of("eager")),
            new Cell(
                "one-shot", null, "Activation", "relu", 1, 1, true, 1, 1, 0, 0, List.of("eager")),
            new Cell(
                "refined", "m\0", "Activation", "gelu", 1, 1, true, 1, 1, 1, 0, List.of("eager")));
  }
}

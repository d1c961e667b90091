package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.stats.Rate;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.Status;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Correct is the status of that name, in each figure. */
class CorrectTest {
  private static final SelectedTasks FOUR =
      SelectedTasks.named(Map.of("Math", Set.of("exp", "log", "sin", "tan")));

  private static final SimulatedRun RUN =
      SimulatedRun.on(SimulatedRun.H200, 1)
          .asking("*", 4)
          .correct("Math/exp", "a", 2)
          .endedWhileTimed("Math/log", "b", Status.TIMEOUT)
          .endedWhileTimed("Math/sin", "c", Status.CRASHED)
          .wrong("Math/tan", "d", Status.WRONG_VALUES);

  @Test
  void candidateThatFailedWhileTimedIsCorrectInNoFigure(@TempDir Path folder) {
    JudgedRun run = RUN.judged();
    Tally tally = Tally.of(run.run(), run.rows(), FOUR);
    Tally.Passes tasks = tally.tasks("all", run.rows());
    assertThat(tasks.correct()).isEqualTo(new Rate(1, 4));
    assertThat(tally.candidates("all", run.rows()).correct()).isEqualTo(new Rate(1, 4));
    assertThat(tally.candidates("all", run.rows()).general()).isEqualTo(new Rate(1, 4));
    assertThat(FastP.of(run, FOUR, FastP.Pick.FIRST_SAMPLE))
        .first()
        .satisfies(fast ->
            assertThat(fast.against().getFirst().overall().thresholds().getFirst().faster())
                .isEqualTo(1));
    SelectedRuns asked = new SelectedRuns(List.of(new SelectedRun(run, FOUR, Map.of())));
    Methods methods = Methods.of(asked, List.of(1), List.of());
    assertThat(methods.methods().getFirst().outcomes())
        .filteredOn(each -> each.outcome() == Outcome.CORRECT)
        .allSatisfy(each -> assertThat(each.all().passes()).isEqualTo(1));
    try (RunStore store = RunStore.open(StoreAddress.of(folder.resolve("kbx.db")))) {
      RUN.store(store);
      assertThat(requireNonNull(store.queries().counts(List.of(RUN.id())).get(RUN.id())).correct())
          .isEqualTo(1);
    }
  }

  @Test
  void candidatesThatFailedWhileTimedAreCorrectByPublishedRules() {
    JudgedRun run = RUN.judged();
    Tally tally = Tally.of(run.run(), run.rows(), FOUR);
    assertThat(tally.tasks("all", run.rows()).values()).isEqualTo(new Rate(3, 4));
    assertThat(tally.hasOtherRightValues(run.rows())).isTrue();
  }
}

package dev.kbx.judge;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.Patience;
import dev.kbx.analysis.NoiseReport;
import dev.kbx.candidate.Candidate;
import dev.kbx.device.Slot;
import dev.kbx.device.Workers;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The noise of a simulated device, measured as {@code kbx bench noise} measures that of a GPU. */
@Timeout(Patience.SECONDS)
class RepeatsTest {
  private static final int TIMES = 40;

  @TempDir private Path folder;

  private static List<Candidate> candidates(double slowness) {
    List<Candidate> candidates = new ArrayList<>();
    for (int i = 0; i < TIMES; i++) {
      Candidate one = FakeWorkers.candidate("noisy", Map.of("noisy", slowness));
      candidates.add(new Candidate(one.task(), one.code(), one.origin(), i, null, null, null));
    }
    return candidates;
  }

  private static List<Verdict> judge(Slot slot, double slowness) throws Exception {
    Plan plan = FakeWorkers.timedPlan();
    List<Verdict> heard = new ArrayList<>();
    List<Verdict> verdicts =
        new Repeats(FakeWorkers.referee(slot), plan).judge(candidates(slowness), heard::add);
    assertThat(heard).hasSize(TIMES).containsExactlyInAnyOrderElementsOf(verdicts);
    return verdicts;
  }

  @Test
  void repeatedSourcesAreJudgedEachTime() throws Exception {
    try (Workers workers = FakeWorkers.start(FakeClock.in(folder))) {
      Slot slot = workers.slot(DeviceSlot.cuda(0));
      List<Verdict> same = judge(slot, 1);
      List<Verdict> slowed = judge(slot, 1.03);
      NoiseReport report = NoiseReport.of(Map.of(), Instant.EPOCH, same, same, slowed);
      assertThat(report.untimed()).isEmpty();
      assertThat(report.rows()).hasSize(3 * TIMES);
      assertThat(report.rows().stream().map(row -> row.speedup()).distinct().count())
          .isGreaterThan(TIMES);
      var all = report.classes().getLast();
      assertThat(all.rows()).isEqualTo(2 * TIMES);
      assertThat(all.withinOnePercent().share()).isGreaterThan(0.95);
      assertThat(all.narrow().share()).isGreaterThan(0.95);
      assertThat(all.cover().share()).isGreaterThan(0.90);
      assertThat(all.p95()).isBetween(0.002, 0.01);
      NoiseReport.Twins twins = requireNonNull(report.twins());
      assertThat(twins.median()).isCloseTo(1.03, within(0.003));
      assertThat(twins.tries()).hasSize(3 * TIMES);
      // At 8 us, which are not timed to 1 %, some are not told.
      assertThat(
              twins.tries().stream()
                  .filter(t -> !t.shape().equals("ms=0.008"))
                  .filter(t -> t.low() > 1))
          .hasSizeGreaterThan(2 * TIMES * 95 / 100);
    }
  }
}

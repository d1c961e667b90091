package dev.kbx.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.SimulatedRun;
import dev.kbx.analysis.DeviceUse.Group;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Bound;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Roofline, share of the peak, memory. */
class DeviceUseTest {
  private static Map<String, Object> size(String bound, double iou, double mfu, long peak) {
    return Map.of(
        "bound",
        bound,
        "iou",
        iou,
        "mfu",
        mfu,
        "sol_score",
        0.5,
        "intensity",
        4,
        "peak_bytes",
        peak,
        "reference_peak_bytes",
        100);
  }

  private static DeviceUse of(SimulatedRun run) {
    return DeviceUse.of(
        new SelectedRuns(
            List.of(new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), Map.of()))));
  }

  private static SimulatedRun run() {
    return SimulatedRun.on(SimulatedRun.H200, 1)
        .by("a")
        .measuring(List.of(size("launch", 0.1, 0, 100), size("memory", 0.8, 0.1, 400)))
        .correct("M/x", "a", 1.5, 1024, 4096)
        .measuring(List.of(size("memory", 0.4, 0.1, 50), size("compute", 0.1, 0.6, 50)))
        .correct("M/x", "b", 1.5, 1024, 4096)
        .correct("N/y", "c", 1.5, 1024, 4096)
        .measuring(List.of())
        .correct("N/z", "d", 1.5)
        .wrong("N/w", "e", Status.WRONG_VALUES);
  }

  @Test
  void theLargestSizeCounts() {
    DeviceUse use = of(run());
    assertThat(use.correct()).isEqualTo(4);
    assertThat(use.untimed()).as("one has no such figures").isEqualTo(1);
    Group all = use.groups().getFirst();
    assertThat(all.kernels()).isEqualTo(3);
    assertThat(all.bounds()).isEqualTo(Map.of(Bound.MEMORY, 1, Bound.COMPUTE, 2));
    assertThat(Objects.requireNonNull(all.utilisation()).median()).isCloseTo(0.6, within(1e-12));
    assertThat(all.utilisation().upper()).isCloseTo(0.7, within(1e-12));
    assertThat(use.kernels().getFirst().utilisation()).isEqualTo(0.8);
  }

  @Test
  void memoryIsTheGeometricMeanOverTasks() {
    Group all = of(run()).groups().getFirst();
    DeviceUse.MemoryRatio memory = Objects.requireNonNull(all.memory());
    // M/x: 2 and 0.5, that is 1; N/y: 0.5.
    assertThat(memory.mean()).isCloseTo(Math.sqrt(0.5), within(1e-12));
    assertThat(memory.tasks()).isEqualTo(2);
    assertThat(memory.above()).isEqualTo(1);
    assertThat(memory.low()).isCloseTo(0.5, within(1e-12));
  }

  @Test
  void groupsAreCategoriesMethodsAndModels() {
    assertThat(of(run()).groups().stream().map(group -> group.category() + " " + group.maker()))
        .containsExactly("null null", "M null", "N null", "null " + new MethodAndModel("a", null));
  }

  @Test
  void runWithoutGpuNamesTheReason() {
    DeviceUse use = of(SimulatedRun.on(SimulatedRun.CPU, 1).untimed("M/x", "a"));
    assertThat(use.groups()).isEmpty();
    assertThat(use.unmeasured()).contains("no GPU");
  }
}

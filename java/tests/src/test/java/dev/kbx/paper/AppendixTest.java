package dev.kbx.paper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.analysis.Inclusion;
import dev.kbx.analysis.Inclusion.Made;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The appendix says what a reviewer asks, from the verdicts, and nothing that they do not say. */
class AppendixTest {
  private static final NoiseFloor FLOOR =
      new NoiseFloor(
          SimulatedRun.H200, Map.of(), Instant.parse("2026-11-20T10:00:00Z"), 0.0042, 0.02, 8, 40);

  /** With clocks of each size; the last one is throttled. */
  private static Verdict clocked(Verdict verdict) {
    ObjectNode json = Json.mapper().valueToTree(verdict);
    ArrayNode sizes = (ArrayNode) json.get("sizes");
    for (int i = 0; i < sizes.size(); i++) {
      ObjectNode size = (ObjectNode) sizes.get(i);
      size.putObject("clocks").put("sm_mhz", 1700 + 100 * i).put("celsius", 40 + i);
      size.putArray("throttle");
      if (i == 2) size.withArray("throttle").add("sw_power_cap");
      if (i == 0) size.put("host_bound", true);
    }
    json.putArray("flags").add("throttled");
    return Json.mapper().treeToValue(json, Verdict.class);
  }

  private static Inclusion entered(int notJudged, int earlier) {
    return new Inclusion(
        List.of("r"),
        "kernelbenchx",
        List.of(),
        2,
        2,
        176,
        new Inclusion.LeftOut(notJudged, 0, 0, earlier),
        List.of("published"),
        false,
        List.of(),
        List.of(new Made("refine", "m", 2, 2, 1, 2)));
  }

  private static Map<String, String> appendix(
      SimulatedRun run, List<Verdict> verdicts, Inclusion entered, List<NoiseFloor> floors) {
    MeasurementConditions.Reader reader = new MeasurementConditions.Reader();
    verdicts.forEach(reader::add);
    Publication.Measurement measurement =
        new Publication.Measurement(List.of(run.info()), entered, reader.conditions(), floors);
    return Appendix.of(measurement).stream()
        .collect(Collectors.toMap(Appendix.Item::subject, item -> String.join(" ", item.items())));
  }

  @Test
  void timedRunHasEnvironmentAndTiming() {
    SimulatedRun run =
        SimulatedRun.on(SimulatedRun.H200, 1)
            .correct("Math/exp", "exp", 1.5)
            .wrong("Math/log", "log", Status.INFRASTRUCTURE);
    List<Verdict> verdicts = List.of(clocked(run.verdicts().getFirst()), run.verdicts().get(1));
    Map<String, String> all = appendix(run, verdicts, entered(1, 3), List.of(FLOOR));
    assertThat(all.get("Devices"))
        .isEqualTo("NVIDIA H200, GPU-5bd02c7a-91e4-4d0c, driver 580.95.05, sm_90.");
    assertThat(all.get("Software")).isEqualTo("kbx 0.1.0; torch 2.13.0; triton 3.7.1.");
    assertThat(all.get("Coverage"))
        .contains("2 judged candidates of 2 of the 176 tasks", "up to round 2");
    assertThat(all.get("Left out"))
        .contains("1 candidate not judged", "3 candidates of an earlier round");
    assertThat(all.get("Clocks"))
        .contains("SM 1700, 1800, 1900 MHz", "temperature 40, 41, 42 °C")
        .contains("Throttled: 1 timed size (sw_power_cap).")
        .doesNotContain("power 0", "memory");
    assertThat(all.get("Timing"))
        .contains("8 to 8 rounds, median 8 in 3 timed sizes", "with a cold cache")
        .contains("Bound by the host, so that times include the host's: 1 size.");
    assertThat(all.get("Noise floor"))
        .contains("within 0.42 % in 95 % of 40 measurements", "that do not wait for the host");
    assertThat(all.get("Statistics"))
        .contains("includes what identical processes differ by")
        .contains("corrected for all tests of an outcome")
        .doesNotContain("p values are two-sided");
    assertThat(all.get("Observations")).isEqualTo("Candidates with flags: throttled 1.");
  }

  @Test
  void weightsOfSizesAreSaid() {
    SimulatedRun run =
        SimulatedRun.on(SimulatedRun.H200, 1)
            .correct("Math/exp", "exp", 1.5)
            .measuring(List.of(Map.of("weight", 0.6), Map.of("weight", 0.4)))
            .correct("Math/log", "log", 1.5, 1024, 2048);
    assertThat(appendix(run, run.verdicts(), entered(0, 0), List.of()).get("Timing"))
        .contains("stated parts of a workload's time: 2. The speedup of their tasks is that of");
    List<Verdict> without = run.verdicts().subList(0, 1);
    assertThat(appendix(run, without, entered(0, 0), List.of()).get("Timing"))
        .doesNotContain("workload");
  }

  @Test
  void runWithoutGpuHasNoTiming() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.CPU, 1).untimed("Math/exp", "exp").cutOff(4);
    Map<String, String> all = appendix(run, run.verdicts(), entered(0, 0), List.of());
    assertThat(all)
        .containsEntry("Timing", "Nothing was timed.")
        .doesNotContainKeys("Clocks", "Noise floor", "Observations");
    assertThat(all.get("Devices"))
        .isEqualTo("AMD EPYC. Kernels ran on the processor; nothing was timed.");
    assertThat(all.get("Runs")).contains("5 candidates", "not finished");
    assertThat(all.get("Left out"))
        .contains("3 candidates without a verdict, as the run was cut off");
    assertThat(all.get("Inputs and seeds")).contains("was not recorded");
  }

  @Test
  void versionsThatDifferAreAllNamed() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.H200, 1).correct("Math/exp", "exp", 1);
    SimulatedRun other =
        SimulatedRun.on(SimulatedRun.H200, 2).triton("3.8.0").correct("Math/exp", "exp", 1);
    List<Verdict> both = List.of(run.verdicts().getFirst(), other.verdicts().getFirst());
    assertThat(appendix(run, both, entered(0, 0), List.of()).get("Software"))
        .contains("triton 3.7.1 or 3.8.0");
  }
}

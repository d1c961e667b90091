package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.SectionText;
import dev.kbx.SimulatedRun;
import dev.kbx.report.NoiseFile;
import dev.kbx.section.NoiseSection;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

class NoiseReportTest {
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");

  /** A verdict of a GPU. */
  private static final Verdict TEMPLATE =
      SimulatedRun.on(SimulatedRun.H200, 1).correct("Math/exp", "e", 1).verdicts().getFirst();

  @TempDir private Path folder;

  /** A verdict that names its task and sizes alone; what else a verdict has is of no interest. */
  private static Verdict verdict(String task, int repeat, @Nullable List<SizeTiming> sizes) {
    ObjectNode fields = Json.mapper().valueToTree(TEMPLATE);
    fields.put("task", task).put("category", "Math").put("sample", repeat);
    fields.put("status", sizes == null ? Status.RUNTIME_ERROR.label() : Status.CORRECT.label());
    fields.put("stage", Stage.PERF.label());
    fields.remove("sizes");
    if (sizes == null) fields.put("message", "out of luck\u001b[31m");
    else fields.set("sizes", Json.mapper().valueToTree(sizes));
    return Json.mapper().treeToValue(fields, Verdict.class);
  }

  private static SizeTiming size(String shape, double ms, double speedup, double halfWidth) {
    return Json.mapper()
        .convertValue(
            Map.of(
                "shape",
                shape,
                "candidate_ms",
                ms / speedup,
                "reference_ms",
                ms,
                "speedup",
                speedup,
                "low",
                speedup * Math.exp(-halfWidth),
                "high",
                speedup * Math.exp(halfWidth),
                "rounds",
                6),
            SizeTiming.class);
  }

  /** Tasks with a size of 5 us, one of 200 us, and one of 2 ms that is off by up to 1 %. */
  private static List<Verdict> references(int tasks) {
    List<Verdict> verdicts = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      double off = 1 + (i - tasks / 2) * 0.00099;
      verdicts.add(
          verdict(
              "task" + i,
              0,
              List.of(
                  size("n=1", 0.005, 1.2, 0.1),
                  size("n=2", 0.2, 1, 0.005),
                  size("n=3", 2, off, 0.0042))));
    }
    return verdicts;
  }

  private static NoiseReport report(List<Verdict> references) {
    return NoiseReport.of(Map.of("torch", "2.11.0"), NOON, references, List.of(), List.of());
  }

  @Test
  void sizesAreClassifiedByDuration() {
    NoiseReport report = report(references(21));
    assertThat(report.classes())
        .extracting(NoiseReport.SizeClass::name)
        .containsExactly("< 10 us", "50-500 us", "> 500 us", ">= 50 us", "- device");
    NoiseReport.SizeClass brief = report.classes().getFirst();
    assertThat(brief.cover().count()).isZero();
    assertThat(brief.median()).isCloseTo(Math.log(1.2), within(1e-9));
    NoiseReport.SizeClass slow = report.classes().get(2);
    assertThat(slow.rows()).isEqualTo(21);
    // Off by -0.99 to 0.99 % in steps of 0.099: nine are within the interval's 0.42 %.
    assertThat(slow.cover().count()).isEqualTo(9);
    assertThat(slow.withinOnePercent().count()).isEqualTo(21);
    assertThat(slow.median()).isCloseTo(0.005, within(1e-4));
  }

  private static String text(NoiseReport report) {
    return SectionText.words(NoiseSection.of(report));
  }

  @Test
  void theFloorIsTheNinetyFifthPercentileOfLongSizes() {
    NoiseReport report = report(references(21));
    NoiseFloor floor = report.floors().getFirst();
    assertThat(floor.sizes()).isEqualTo(42);
    assertThat(floor.relative()).isCloseTo(0.009, within(2e-4));
    assertThat(text(report))
        .contains("Differences below 0.90 %")
        .contains("at sizes ≥ 0.0500 ms that are not host-bound (95th percentile of |log speedup|,")
        .contains("42 rows of 42 sizes)");
  }

  @Test
  void hostBoundSizesAreASeparateClassOutsideTheFloor() {
    List<Verdict> references = new ArrayList<>(references(21));
    references.add(verdict("waiting", 0, List.of(waiting(size("n=1", 2, 1.3, 0.1)))));
    NoiseReport report = report(references);
    assertThat(report.classes())
        .extracting(NoiseReport.SizeClass::name, NoiseReport.SizeClass::rows)
        .endsWith(tuple(">= 50 us", 43), tuple("- device", 42), tuple("- host", 1));
    assertThat(report.floors().getFirst().rows()).isEqualTo(42);
  }

  private static SizeTiming waiting(SizeTiming size) {
    ObjectNode fields = Json.mapper().valueToTree(size);
    return Json.mapper().treeToValue(fields.put("host_bound", true), SizeTiming.class);
  }

  @Test
  void eachDeviceHasItsOwnFloor() {
    NoiseReport report = report(onTwoDevices(references(42)));
    assertThat(report.floors())
        .extracting(floor -> floor.device().uuid())
        .containsExactly(SimulatedRun.H200.uuid(), "GPU-other");
    assertThat(report.floors()).extracting(NoiseFloor::sizes).containsExactly(42, 42);
    assertThat(text(report))
        .contains("cannot be resolved on GPU-other at sizes ≥ 0.0500 ms")
        .doesNotContain("No floor is kept");
  }

  @Test
  void deviceWithTooFewSizesIsNamed() {
    List<Verdict> verdicts = new ArrayList<>(references(42));
    verdicts.addAll(onTwoDevices(references(2)));
    NoiseReport report = report(verdicts);
    assertThat(report.floors()).hasSize(1);
    assertThat(text(report))
        .contains("No floor is kept of 1 other device that timed fewer than 20 sizes ≥ 50 µs");
  }

  /** Enough for a floor in all, and on neither of the two. */
  @Test
  void sizesArePerDeviceWhereNoDeviceHasAFloor() {
    NoiseReport report = report(onTwoDevices(references(12)));
    assertThat(report.floors()).isEmpty();
    assertThat(text(report))
        .contains("12 sizes ≥ 50 µs were timed on the device that has most, and 20 speak");
  }

  /** The verdicts, every other one on another device. */
  private static List<Verdict> onTwoDevices(List<Verdict> verdicts) {
    List<Verdict> both = new ArrayList<>();
    for (Verdict verdict : verdicts) {
      ObjectNode fields = Json.mapper().valueToTree(verdict);
      if (both.size() % 2 == 1) ((ObjectNode) fields.get("device")).put("uuid", "GPU-other");
      both.add(Json.mapper().treeToValue(fields, Verdict.class));
    }
    return both;
  }

  @Test
  void fewSizesAreListedWithoutAFloor() {
    List<Verdict> often = new ArrayList<>();
    for (int repeat = 0; repeat < 50; repeat++) often.addAll(references(1));
    NoiseReport report = report(often);
    assertThat(report.floors()).isEmpty();
    assertThat(text(report)).contains("No floor is kept: 2 sizes ≥ 50 µs");
  }

  @Test
  void cutOffReportHasNoFloor() {
    NoiseReport report = report(references(21)).cutOff(300);
    assertThat(report.floors()).isEmpty();
    assertThat(Json.mapper().valueToTree(report).get("missing").asInt()).isEqualTo(300);
    assertThat(Json.mapper().valueToTree(report(references(2))).has("missing")).isFalse();
    assertThat(text(report))
        .contains("Cut off before 300 candidates were judged: no floor is kept", "< 10 us");
  }

  @Test
  void twinsAreToldApartByTheQuotientOfTheirSpeedups() {
    List<Verdict> plain = new ArrayList<>();
    List<Verdict> slowed = new ArrayList<>();
    for (int repeat = 0; repeat < 4; repeat++) {
      // Three halves as wide as the other: together wider than 3 % in the last try alone.
      double halfWidth = repeat == 3 ? 0.03 : 0.01;
      plain.add(verdict("copy", repeat, List.of(size("n=1", 0.3, 2.06, halfWidth))));
      slowed.add(verdict("copy", repeat, List.of(size("n=1", 0.3, 2, halfWidth))));
    }
    slowed.set(1, verdict("copy", 1, null));
    NoiseReport report = NoiseReport.of(Map.of(), NOON, List.of(), plain, slowed);
    NoiseReport.Twins twins = requireNonNull(report.twins());
    assertThat(twins.tries()).hasSize(3);
    assertThat(twins.median()).isCloseTo(1.03, within(1e-9));
    assertThat(twins.told().count()).isEqualTo(2);
    assertThat(twins.cover().count()).isEqualTo(3);
    assertThat(twins.tries().getFirst().high())
        .isCloseTo(1.03 * Math.exp(0.01 * Math.sqrt(2)), within(1e-9));
    assertThat(report.untimed()).containsExactly("Math/copy: runtime_error: out of luck\u001b[31m");
  }

  @Test
  void theTableFitsAndHidesNoEscapes() {
    List<Verdict> references = references(21);
    for (int i = 0; i < 12; i++) references.add(verdict("bad" + i, 0, null));
    for (int width : new int[] {80, 120}) {
      String text = SectionText.of(width, NoiseSection.of(report(references)));
      assertThat(text).contains("and 2 more").doesNotContain("\u001b");
      assertThat(text.lines())
          .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(width));
    }
  }

  @Test
  void theFileHasEveryMeasurement() throws Exception {
    NoiseReport report = report(references(21));
    NoiseFile.write(report, folder);
    NoiseReport read =
        Json.mapper().readValue(Files.readString(folder.resolve("noise.json")), NoiseReport.class);
    assertThat(read).isEqualTo(report);
  }
}

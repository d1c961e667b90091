package dev.kbx.section;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SectionText;
import dev.kbx.analysis.Throughput;
import dev.kbx.verdict.Verdict;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ThroughputSectionTest {
  @Test
  void measuringShareIsShownBesideExclusiveTime() {
    Map<String, Double> parts =
        Map.of(
            "candidate",
            35.0,
            "warm up",
            5.0,
            "reference",
            25.0,
            "baseline",
            10.0,
            "check",
            20.0,
            "compiled baselines",
            5.0);
    String text =
        SectionText.words(
            ThroughputSection.of(
                new Throughput(
                    new Verdict.Device("cuda", "NVIDIA H200", null, null, null),
                    Map.of(),
                    1,
                    16,
                    new Throughput.Pace(10, 200, 180, null),
                    Map.of("correct", 10),
                    Map.of(),
                    Map.of(0, parts),
                    null)));
    assertThat(text)
        .contains(
            "one candidate alone for 1 min 40 s, 50.0 % of the time; 75.0 % of that is measuring")
        .contains(" candidate 35.0 s ", " compiled baselines 5.00 s");
  }
}

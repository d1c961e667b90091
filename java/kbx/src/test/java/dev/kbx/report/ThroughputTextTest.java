package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.analysis.Throughput;
import dev.kbx.verdict.Verdict;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ThroughputTextTest {
  @Test
  void theShareOfMeasuringStandsBesideTheExclusiveTime() {
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
        ThroughputText.render(
            new Throughput(
                new Verdict.Device("cuda", "NVIDIA H200", null, null, null),
                Map.of(),
                1,
                16,
                10,
                200,
                180,
                null,
                Map.of("correct", 10),
                Map.of(),
                Map.of(0, parts),
                null));
    assertThat(text)
        .contains("one candidate alone for 100.0 s, 50 % of the time; 75 % of that is measuring")
        .contains("\n  candidate              35.00 s\n")
        .contains("\n  compiled baselines      5.00 s\n");
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.verdict.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private long seconds;

  private Progress progress(boolean live, int total, int done) {
    PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    return new Progress(out, live, 80, total, done, () -> "", () -> seconds * 1_000_000_000);
  }

  private static List<Verdict> verdicts() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.CPU, 1);
    for (int i = 0; i < 4; i++) run.untimed("M/t" + i, "code" + i);
    return run.verdicts();
  }

  @Test
  void withoutTerminalTheRateIsPrintedTwiceAMinute() {
    Progress progress = progress(false, 8, 4);
    for (Verdict verdict : verdicts()) {
      seconds += 20;
      progress.verdict(verdict);
    }
    assertThat(printed.toString(StandardCharsets.UTF_8).lines())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("[5/8] correct  M/t0  "),
            line -> assertThat(line).startsWith("[6/8] correct  M/t1  "),
            line -> assertThat(line).isEqualTo("kbx: 6 of 8, 3.0/min, 0:40 left"),
            line -> assertThat(line).startsWith("[7/8] correct  M/t2  "),
            line -> assertThat(line).startsWith("[8/8] correct  M/t3  "));
  }

  @Test
  void terminalLineHasRateAndTallies() {
    Progress progress = progress(true, 8, 4);
    for (Verdict verdict : verdicts().subList(0, 2)) {
      seconds += 1;
      progress.verdict(verdict);
    }
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains("6/8  1.0/s, 0:02 left  2 correct");
  }
}

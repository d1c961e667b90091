package dev.kbx.section;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SectionText;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.analysis.TrajectoryRow.Recorded;
import dev.kbx.analysis.TrajectoryRow.Round;
import dev.kbx.document.Text;
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

public class TrajectoriesSectionTest {
  private static final String MODEL = "command:python3 a/rather/long/path/of/a/program.py refine";

  static Round round(
      String ask, Status status, @Nullable Double measured, @Nullable Double recorded) {
    return new Round(
        ask,
        true,
        status,
        measured == null ? null : speedup(measured),
        recorded == null
            ? null
            : new Recorded(speedup(recorded), "NVIDIA H200", "2026-11-25T10:00:00Z"));
  }

  private static Speedup speedup(double value) {
    return new Speedup(value, value - 0.01, value + 0.01, "eager");
  }

  /** A refine run, and a sample run with a lost request and prices. */
  public static List<TrajectoryRow> rows(@Nullable Double measured, @Nullable Double recorded) {
    List<TrajectoryRow> rows = new ArrayList<>();
    List<Round> rounds =
        List.of(
            round("turn-0", Status.WRONG_VALUES, null, null),
            round("turn-1", Status.CORRECT, measured, recorded));
    Spent spent =
        new Spent.Amounts().calls(2).requests(2).tokens(12_345).usd(1.5).deviceSeconds(61).spent();
    rows.add(
        new TrajectoryRow("refine", MODEL, "Math/exp", 0, true, true, true, rounds, spent, spent));
    rows.add(
        new TrajectoryRow("refine", MODEL, "Math/log", 0, true, true, false, rounds, spent, spent));
    for (int sample = 0; sample < 4; sample++) {
      Spent one =
          new Spent.Amounts()
              .calls(1)
              .requests(1)
              .lost(sample == 0 ? 1 : 0)
              .tokens(100_000)
              .usd(0.25)
              .unpriced(sample == 0 ? 1 : 0)
              .spent();
      for (String task : List.of("Math/exp", "Math/log")) {
        rows.add(
            new TrajectoryRow(
                "sample",
                "openai:gpt-5",
                task,
                sample,
                sample > 0,
                null,
                sample == 2 && task.endsWith("exp"),
                List.of(new Round("reply", true, null, null, null)),
                one,
                one));
      }
    }
    return rows;
  }

  @ParameterizedTest
  @ValueSource(ints = {80, 100, 140})
  void narrowTableCutsNamesNotNumbers(int width) {
    String text = SectionText.of(width, TrajectoriesSection.rates(rows(null, 1.6)));
    assertThat(text.lines()).allMatch(line -> Text.columns(line) <= width);
    assertThat(text).contains("2 min 2 s", "2 lost", "800,000", "≥ 2.00", "3.00", "pass@k", "@4 ");
    assertThat(text).containsPattern("2/2 100.0 % \\[34–100] +1/2 50.0 % \\[9–91] +\\+50");
    assertThat(text).doesNotContain("…\n");
  }

  private static String rounds(List<TrajectoryRow> rows) {
    return SectionText.of(100, requireNonNull(TrajectoriesSection.rounds(rows, 12)));
  }

  @Test
  void recordedSpeedupsAreMarked() {
    assertThat(rounds(rows(null, 1.6)).replace('\n', ' '))
        .contains("not measured in this run", "recorded on NVIDIA H200, 2026-11-25.")
        .contains("wrong_values → correct (1.60×)");
    assertThat(rounds(rows(1.2, null)))
        .contains("wrong_values → correct 1.20×")
        .doesNotContain("recorded");
    assertThat(rounds(rows(1.2, 1.6))).contains("wrong_values → correct 1.20×");
  }

  @Test
  void methodsShowTheirK() {
    List<TrajectoryRow> rows = new ArrayList<>();
    Spent spent = new Spent.Amounts().calls(1).requests(1).spent();
    for (int k : new int[] {2, 4}) {
      for (int sample = 0; sample < k; sample++) {
        boolean correct = sample == 0;
        rows.add(
            new TrajectoryRow(
                "by" + k, "m", "Math/exp", sample, true, null, correct, List.of(), spent, spent));
      }
    }
    assertThat(SectionText.of(100, TrajectoriesSection.rates(rows)))
        .contains("pass@k", "@2 100.0 %", "@4 100.0 %");
    assertThat(TrajectoriesSection.rounds(rows, 12)).isNull();
  }
}

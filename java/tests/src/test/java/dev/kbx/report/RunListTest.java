package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the list says of a run that has not ended. */
class RunListTest {
  private static RunInfo run(String id, int candidates, @Nullable Instant finished) {
    return new RunInfo(
        id,
        Instant.EPOCH,
        finished,
        List.of("source"),
        "kernelbenchx",
        "*",
        List.of(Stage.STATIC),
        List.of(),
        Fixtures.CPU,
        Map.of(),
        candidates,
        176,
        "eager",
        "model",
        "published",
        "fp32",
        null,
        true,
        null,
        null,
        null,
        null);
  }

  @Test
  void runIsInterruptedOnlyIfNoProcessJudgesIt() {
    List<RunInfo> runs =
        List.of(
            run("done", 3, Instant.EPOCH),
            run("served", 0, null),
            run("active", 3, null),
            run("killed", 3, null));
    List<String> lines = RunList.lines(runs, _ -> 3, run -> run.id().equals("active"));
    assertThat(lines.get(1)).containsPattern("done +complete +3/3 ");
    assertThat(lines.get(2)).containsPattern("served +service +3 ");
    assertThat(lines.get(3)).containsPattern("active +in progress +3/3 ");
    assertThat(lines.get(4)).containsPattern("killed +cut off +3/3 ");
  }
}

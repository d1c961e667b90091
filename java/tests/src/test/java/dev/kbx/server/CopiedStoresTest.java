package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.TestPostgres;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server says the same of runs in the store they were judged into and in copies of it. */
class CopiedStoresTest {
  @TempDir private Path folder;

  private static final SimulatedRun ONE =
      SimulatedRun.on(SimulatedRun.A100, 1)
          .by("one-shot")
          .correct("Activation/gelu", "a", 2.0)
          .wrong("Activation/relu", "b", Status.WRONG_VALUES)
          .by("refined")
          .model("m")
          .correct("Activation/gelu", "c", 3.0)
          .wrong("Math/exp", "d", Status.INFRASTRUCTURE);

  private static final SimulatedRun TWO =
      SimulatedRun.on(SimulatedRun.A100, 2).correct("Activation/relu", "b", 0.5);

  private StoreAddress file(String name) throws Exception {
    return StoreAddress.of(Files.createDirectories(folder.resolve(name)).resolve("kbx.db"));
  }

  private List<String> answers(StoreAddress address) throws Exception {
    List<String> answers = new ArrayList<>();
    try (ScriptedServer server = new ScriptedServer(address, folder, false)) {
      for (String path :
          List.of(
              "/",
              "/runs",
              "/runs/" + ONE.id(),
              "/runs/" + ONE.id() + "?method=refined",
              "/runs/" + TWO.id(),
              "/tasks",
              "/leaderboards",
              "/v1/runs",
              "/v1/runs/" + ONE.id(),
              "/v1/runs/" + TWO.id())) {
        answers.add(path + "\n" + server.get(path).body());
      }
    }
    return answers;
  }

  private static void copy(StoreAddress from, StoreAddress to) {
    try (RunStore reading = RunStore.open(from);
        RunStore writing = RunStore.open(to)) {
      assertThat(writing.copy(List.of(RunStore.Selection.all(reading))))
          .allMatch(RunStore.Copied::added);
    }
  }

  @Test
  void copiedAndMergedRunsEqualTheOriginals() throws Exception {
    StoreAddress original = file("original");
    try (RunStore store = RunStore.open(original)) {
      ONE.store(store);
      TWO.store(store);
    }
    List<String> expected = answers(original);
    assertThat(expected)
        .anySatisfy(answer ->
            assertThat(answer)
                .startsWith("/v1/runs/" + ONE.id() + "\n")
                .contains("\"verdicts\":4")
                .contains("\"wrong_values\":1"));
    StoreAddress copied = file("copied");
    copy(original, copied);
    assertThat(answers(copied)).isEqualTo(expected);
    StoreAddress database = StoreAddress.of(TestPostgres.newDatabase());
    copy(original, database);
    assertThat(answers(database)).isEqualTo(expected);
    // Merged from two folders.
    StoreAddress merged = file("merged");
    for (SimulatedRun run : List.of(ONE, TWO)) {
      StoreAddress part = file(run.id());
      try (RunStore store = RunStore.open(part)) {
        run.store(store);
      }
      copy(part, merged);
    }
    assertThat(answers(merged)).isEqualTo(expected);
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx runs merge}, as a user runs it. */
class MergeRunsTest {
  @TempDir private Path folder;

  private SimulatedRun h200() {
    return SimulatedRun.on(SimulatedRun.H200, 1)
        .correct("Math/exp", "exp", 1.5)
        .wrong("Math/log", "log", Status.CRASHED);
  }

  private SimulatedRun a100() {
    return SimulatedRun.on(SimulatedRun.A100, 2).correct("Math/exp", "exp", 0.7).cutOff(4);
  }

  private Kbx.Result merge(String... arguments) {
    List<Object> command =
        new ArrayList<>(List.of("runs", "merge", "--out", folder.resolve("all")));
    for (String argument : arguments) {
      command.add(argument.startsWith("--") ? argument : folder.resolve(argument));
    }
    return Kbx.here(command.toArray());
  }

  private List<String> ids() {
    try (RunStore store = RunStore.open(StoreAddress.of(folder.resolve("all/kbx.db")))) {
      return store.runs().stream().map(RunInfo::id).toList();
    }
  }

  @Test
  void runsComeWithVerdictsAndSourcesAndOnlyOnce() {
    SimulatedRun first = h200().store(folder.resolve("one"));
    SimulatedRun second = a100().store(folder.resolve("two"));
    Kbx.Result merged = merge("one", "two");
    assertThat(merged.exit()).as(merged.err()).isZero();
    assertThat(merged.out().lines()).hasSize(2).allMatch(line -> line.startsWith("added"));
    try (RunStore store = RunStore.open(StoreAddress.of(folder.resolve("all/kbx.db")))) {
      assertThat(store.runs()).containsExactly(second.info(), first.info());
      assertThat(store.verdicts(first.id()).values()).containsExactlyElementsOf(first.verdicts());
      assertThat(store.source(first.verdicts().getLast().provenance().candidate())).contains("log");
      assertThat(store.run(second.id()).orElseThrow().finished()).as("cut off as before").isNull();
      assertThat(store.remembered(List.of(first.id() + "/0"), _ -> true))
          .as("a judgement of another installation is not remembered here")
          .isEmpty();
    }
    JsonNode again = merge("two", "one", "two", "--json").json();
    assertThat(again.size()).isEqualTo(3);
    again.forEach(run -> assertThat(run.get("added").asBoolean()).isFalse());
    assertThat(again.get(0).get("complete").asBoolean()).isFalse();
  }

  @Test
  void differentRunWithTheSameIdIsRefusedWithoutChanges() {
    h200().store(folder.resolve("all"));
    SimulatedRun other = a100().store(folder.resolve("one"));
    SimulatedRun forged = h200().correct("Math/sin", "sin", 3).store(folder.resolve("two"));
    Kbx.Result refused = merge("one", "two");
    assertThat(refused.exit()).isEqualTo(1);
    assertThat(refused.err())
        .startsWith("kbx: ")
        .contains("two/kbx.db: run " + forged.id() + " differs");
    assertThat(refused.err().lines()).hasSize(1);
    assertThat(ids()).doesNotContain(other.id()).hasSize(1);
  }

  @Test
  void damagedSourceStoreIsNamed() throws Exception {
    h200().store(folder.resolve("one"));
    a100().store(folder.resolve("two"));
    Path damaged = folder.resolve("two/kbx.db");
    byte[] pages = Files.readAllBytes(damaged);
    Arrays.fill(pages, 4096, pages.length, (byte) 0xff);
    Files.write(damaged, pages);
    Kbx.Result refused = merge("one", "two");
    assertThat(refused.exit()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(refused.err())
        .isEqualTo(
            "kbx: %s: is damaged, or no database; name another folder, or move it away\n"
                .formatted(damaged));
    assertThat(folder.resolve("all")).doesNotExist();
  }

  @Test
  void aFolderWithoutRunsIsNamed() {
    h200().store(folder.resolve("one"));
    Kbx.Result refused = merge("one", "two");
    assertThat(refused.exit()).isEqualTo(1);
    assertThat(refused.err()).contains("two: no runs there");
    assertThat(Files.exists(folder.resolve("all"))).isFalse();
  }

  @Test
  void manyFoldersAreMergedAtOnce() {
    String[] nodes = new String[12];
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] = "node" + i;
      SimulatedRun.on(SimulatedRun.H200, i)
          .correct("Math/exp", "e", 1)
          .store(folder.resolve(nodes[i]));
    }
    assertThat(merge(nodes).exit()).isZero();
    assertThat(ids()).hasSize(12);
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.TestPostgres;
import dev.kbx.app.ResultsFolder;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code kbx runs copy} killed with SIGKILL at later and later moments, until it ends: what is
 * there is the whole run or nothing of it, and the next copy goes on from that.
 */
@Tag("soak-only")
class KilledCopyTest {
  private static final int VERDICTS = 5_000;
  private static final int STEP_MILLIS = 300;

  @TempDir private Path folder;
  private String run = "";

  @BeforeEach
  void judge() throws Exception {
    SimulatedRun judged = SimulatedRun.on(SimulatedRun.A100, 1);
    for (int i = 0; i < VERDICTS; i++) judged.correct("Activation/gelu", "code " + i, 2.0);
    run = judged.id();
    try (RunStore store =
        RunStore.open(
            ResultsFolder.ownStore(Files.createDirectories(folder.resolve("from"))).store())) {
      judged.store(store);
    }
  }

  @Test
  void killedCopyIntoAFolderIsCompletedByTheNext() throws Exception {
    Path to = folder.resolve("to");
    copyUntilItEnds(to.toString(), ResultsFolder.ownStore(to).store());
  }

  @Test
  void killedCopyIntoPostgresIsCompletedByTheNext() throws Exception {
    String to = TestPostgres.newDatabase();
    copyUntilItEnds(to, StoreAddress.of(to));
  }

  private void copyUntilItEnds(String to, StoreAddress address) throws Exception {
    int killed = 0;
    boolean ended = false;
    for (int millis = 0; !ended; millis += STEP_MILLIS) {
      Path log = folder.resolve("log");
      Process copy =
          Kbx.start(folder, Map.of(), log, log, "runs", "copy", folder.resolve("from"), to);
      // The first dies once there is a store, however fast this machine is.
      while (millis == 0 && copy.isAlive() && !address.exists()) Thread.sleep(1);
      ended = copy.waitFor(millis, TimeUnit.MILLISECONDS);
      if (ended) assertThat(copy.exitValue()).as(() -> read(log)).isZero();
      copy.destroyForcibly().waitFor();
      int there = verdicts(address);
      assertThat(there).isIn(0, VERDICTS);
      if (there == 0 && address.exists()) killed++;
    }
    assertThat(killed).isPositive();
    assertThat(verdicts(address)).isEqualTo(VERDICTS);
  }

  private int verdicts(StoreAddress address) throws Exception {
    if (!address.exists()) return 0;
    try (RunStore store = RunStore.open(address)) {
      assertThat(store.flaws()).isEmpty();
      int there = store.count(run);
      assertThat(store.run(run).isPresent()).isEqualTo(there > 0);
      return there;
    }
  }

  private static String read(Path log) {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      return e.toString();
    }
  }
}

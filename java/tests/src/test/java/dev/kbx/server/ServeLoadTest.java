package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.TestPostgres;
import dev.kbx.store.RunStore;
import dev.kbx.store.Submission;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many clients at a time, with workers that take no time; {@code bench/serve.sh} runs it with more
 * of them and shows what it prints.
 */
@Tag("soak-only")
class ServeLoadTest {
  private static final int CLIENTS = Integer.getInteger("kbx.load.clients", 50);
  private static final int CANDIDATES = Integer.getInteger("kbx.load.candidates", 1_000);

  @TempDir private Path folder;

  private static final int KILLS = 4;

  /** What happens while clients submit; called before the load's next part. */
  private interface Fault {
    void happen(int number, ServerProcess server) throws Exception;
  }

  @Test
  void nothingIsLostOrJudgedTwice() throws Exception {
    load("SQLite", file(), 0, (_, _) -> {});
  }

  @Test
  void nothingIsLostOrJudgedTwiceWhenTheServerIsKilled() throws Exception {
    load("SQLite, server killed", file(), KILLS, (_, server) -> server.killAndStart());
  }

  @Test
  void nothingIsLostOrJudgedTwiceOnPostgreSql() throws Exception {
    load("PostgreSQL", TestPostgres.newDatabase(), 0, (_, _) -> {});
  }

  /** The server is killed at each fault, and PostgreSQL at the second and the fourth, too. */
  @Test
  void nothingIsLostOrJudgedTwiceWhenBothAreKilled() throws Exception {
    try (KilledPostgres postgres = new KilledPostgres(folder.resolve("postgres"))) {
      load(
          "PostgreSQL, both killed",
          postgres.url(),
          KILLS,
          (number, server) -> {
            if (number % 2 == 1) {
              postgres.kill();
              Thread.sleep(2_000); // Requests come meanwhile.
              postgres.startAgain();
              Thread.sleep(2_000);
            }
            server.killAndStart();
          });
    }
  }

  @Test
  void nothingIsLostOrJudgedTwiceWhenTheDiskIsFull() throws Exception {
    try (SmallDisk disk = new SmallDisk(folder.resolve("disk"), 256)) {
      load(
          "SQLite, disk full",
          disk.folder().resolve("kbx.db").toString(),
          KILLS,
          (_, _) -> {
            disk.fill();
            Thread.sleep(7_000); // As long as it took a candidate to fail for good.
            disk.free();
          });
    }
  }

  private String file() {
    return folder.resolve("kbx.db").toString();
  }

  private void load(String name, String store, int faults, Fault fault) throws Exception {
    List<String> tokens = new ArrayList<>();
    try (RunStore opened = RunStore.open(InstantServer.address(store))) {
      Tokens made = new Tokens(opened.service());
      for (int i = 0; i < CLIENTS; i++) {
        tokens.add(made.create("client" + i, List.of("submit", "read")).orElseThrow());
      }
    }
    Load.Seen seen;
    long peak;
    double processor;
    try (ServerProcess server = ServerProcess.start(store, folder, true, 50_000)) {
      Load load = new Load(server.url(), tokens, CANDIDATES);
      FutureTask<Load.Seen> clients = new FutureTask<>(load::run);
      var _ = Thread.startVirtualThread(clients);
      Random random = new Random(25);
      for (int i = 0; i < faults; i++) {
        int from = CANDIDATES * (i + 1) / (faults + 2) + random.nextInt(50);
        while (load.judged() < from && !clients.isDone()) Thread.sleep(5);
        fault.happen(i, server);
      }
      seen = clients.get();
      peak = server.peakBytes();
      processor = server.processorSeconds();
    }
    List<Double> reads = seen.allReads();
    System.out.printf(
        "%s: %d clients, %d candidates, %d faults: %.0f judgements/s, reads p50 %.1f ms, p99 %.1f"
            + " ms, max %.1f ms of %d; JVM at most %d MB, %.1f ms of a processor a judgement%n",
        name,
        CLIENTS,
        CANDIDATES,
        faults,
        CANDIDATES / seen.seconds(),
        1e3 * Load.Seen.quantile(reads, 0.5),
        1e3 * Load.Seen.quantile(reads, 0.99),
        1e3 * reads.getLast(),
        reads.size(),
        peak / 1_000_000,
        1e3 * processor / CANDIDATES);
    seen.reads()
        .forEach((what, times) ->
            System.out.printf(
                "  p99 of %s %.1f ms%n", what, 1e3 * Load.Seen.quantile(times, 0.99)));
    assertThat(seen.surprises()).isEmpty();
    check(store, seen.ids());
  }

  private void check(String store, List<String> ids) {
    assertThat(ids).hasSize(CANDIDATES).doesNotHaveDuplicates();
    Set<String> identities = new HashSet<>();
    int verdicts = 0;
    try (RunStore opened = RunStore.open(InstantServer.address(store))) {
      for (int i = 0; i < ids.size(); i += 500) {
        List<String> part = ids.subList(i, Math.min(ids.size(), i + 500));
        List<Submission> found = opened.service().submissions(part);
        assertThat(found)
            .hasSize(part.size())
            .allMatch(each -> each.state() == Submission.State.DONE);
        for (Submission each : found) identities.add(each.run() + each.identity().text());
      }
      for (var run : opened.runs()) verdicts += opened.count(run.id());
    }
    assertThat(identities).hasSize(CANDIDATES);
    assertThat(verdicts).isEqualTo(CANDIDATES);
  }
}

package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.store.RunStore;
import dev.kbx.store.Submission;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients submit for minutes while faults of all kinds happen at random times. Then every accepted
 * candidate has one verdict, on the device of its run, the store has no flaw, and no file is left.
 * {@code -Dkbx.storm.minutes=120} for two hours, {@code -Dkbx.storm.seed=N} for the same faults
 * again; {@code bench/storm.sh} shows what it prints.
 */
@Tag("soak-only")
class ServeStormTest {
  private static final Duration LENGTH =
      Duration.ofSeconds(60 * Integer.getInteger("kbx.storm.minutes", 4)).dividedBy(2);

  private static final long SEED = Long.getLong("kbx.storm.seed", System.nanoTime());
  private static final int CLIENTS = 20;
  private static final int ENDLESS = Integer.MAX_VALUE / 2;

  /** Of a client between two candidates: about 20 a second in all. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private static final int UPLOAD_EACH = 5;
  private static final Duration WORKER_ENDS = Duration.ofSeconds(5);
  private static final int JUDGING_MILLIS = 300;
  private static final int DISK_MEBIBYTES = 1024;

  private final Random random = new Random(SEED);
  private final HttpClient http = HttpClient.newHttpClient();
  @TempDir private Path folder;
  private Path temporary = Path.of("");

  /** Something that goes wrong, and is over when this returns. */
  private interface Fault {
    void happen() throws Exception;
  }

  @Test
  void nothingIsLostOnADiskThatFillsUp() throws Exception {
    try (SmallDisk disk = new SmallDisk(folder.resolve("disk"), DISK_MEBIBYTES)) {
      String store = disk.folder().resolve("kbx.db").toString();
      temporary = Files.createDirectory(disk.folder().resolve("temporary"));
      Load.Seen accepted;
      try (ServerProcess server = server(store)) {
        accepted =
            storm(
                store,
                new AtomicReference<>(server),
                Map.of(
                    "killed",
                    server::killAndStart,
                    "stopped",
                    server::stopAndStart,
                    "another device",
                    () -> server.stopAndStart(device()),
                    "frozen",
                    () -> freeze(server),
                    "disk full",
                    () -> fill(disk),
                    "disk full, then killed",
                    () -> {
                      fill(disk);
                      server.killAndStart();
                    }));
      }
      check(store, accepted);
      checkFolder(store);
    }
  }

  @Test
  void nothingIsLostWhenConnectionsAreCutAndAnotherServerTakesOver() throws Exception {
    try (KilledPostgres postgres = new KilledPostgres(folder.resolve("postgres"))) {
      temporary = Files.createDirectory(folder.resolve("temporary"));
      Load.Seen accepted;
      try (Pair pair = new Pair(postgres)) {
        accepted =
            storm(
                postgres.url(),
                pair.judging,
                Map.of(
                    "killed",
                    () -> pair.server().killAndStart(),
                    "stopped",
                    () -> pair.server().stopAndStart(),
                    "another device",
                    () -> pair.server().stopAndStart(device()),
                    "frozen",
                    () -> freeze(pair.server()),
                    "PostgreSQL killed",
                    pair::killPostgres,
                    "connections cut",
                    pair::cut,
                    "taken over",
                    () -> pair.takeOver(false),
                    "frozen, then taken over",
                    () -> pair.takeOver(true)));
      }
      check(postgres.url(), accepted);
      checkFolder(postgres.url());
    }
  }

  /** Two ways to one database, of which the server that judges has one. */
  private final class Pair implements AutoCloseable {
    final AtomicReference<ServerProcess> judging;
    private final KilledPostgres postgres;
    private CutProxy used;
    private CutProxy other;

    Pair(KilledPostgres postgres) throws IOException {
      this.postgres = postgres;
      this.used = new CutProxy(postgres.port());
      this.other = new CutProxy(postgres.port());
      this.judging = new AtomicReference<>(ServeStormTest.this.server(through(used)));
    }

    private String through(CutProxy proxy) {
      return postgres.url().replace(":" + postgres.port(), ":" + proxy.port());
    }

    ServerProcess server() {
      return Objects.requireNonNull(judging.get());
    }

    void killPostgres() throws Exception {
      postgres.kill();
      Thread.sleep(between(1, 4));
      postgres.startAgain();
    }

    void cut() throws Exception {
      used.cut();
      Thread.sleep(between(1, 15));
      used.heal();
    }

    /** The old server comes back to its database, and finds out what happened. */
    void takeOver(boolean frozen) throws Exception {
      ServerProcess old = server();
      if (frozen) old.suspend();
      used.cut();
      judging.set(ServeStormTest.this.server(through(other)));
      if (frozen) old.resume();
      used.heal();
      CutProxy healed = used;
      used = other;
      other = healed;
      Thread.sleep(between(3, 8));
      assertThat(ready(old)).as("readiness of a server whose claim is taken").isEqualTo(503);
      old.close();
    }

    @Override
    public void close() throws IOException {
      server().close();
      used.close();
      other.close();
    }
  }

  private ServerProcess server(String store) throws IOException {
    return ServerProcess.start(
        store,
        folder,
        true,
        50_000,
        Map.of(
            InstantServer.DEVICE,
            device(),
            InstantServer.MILLIS,
            Integer.toString(JUDGING_MILLIS),
            InstantServer.WORKER,
            "yes",
            ServerProcess.TEMPORARY,
            temporary.toString()));
  }

  private String device() {
    return "simulated " + (char) ('A' + random.nextInt(3));
  }

  private Duration between(int least, int most) {
    return Duration.ofMillis(1_000L * least + random.nextInt(1_000 * (most - least)));
  }

  private void freeze(ServerProcess server) throws Exception {
    server.suspend();
    Thread.sleep(between(1, 5));
    server.resume();
  }

  private void fill(SmallDisk disk) throws Exception {
    disk.fill();
    Thread.sleep(between(2, 8));
    disk.free();
  }

  private int ready(ServerProcess server) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.url() + "/health/ready")).build();
    return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  /** Returns what was accepted. */
  private Load.Seen storm(
      String store, AtomicReference<ServerProcess> server, Map<String, Fault> faults)
      throws Exception {
    List<String> tokens = new ArrayList<>();
    try (RunStore opened = RunStore.open(InstantServer.address(store))) {
      Tokens made = new Tokens(opened.service());
      for (int i = 0; i < CLIENTS; i++) {
        tokens.add(made.create("client" + i, List.of("submit", "read")).orElseThrow());
      }
    }
    Load load =
        new Load(
            () -> Objects.requireNonNull(server.get()).url(), tokens, ENDLESS, PAUSE, UPLOAD_EACH);
    FutureTask<Load.Seen> clients = new FutureTask<>(load::run);
    var _ = Thread.startVirtualThread(clients);
    Map<String, Integer> happened = new TreeMap<>();
    List<String> names = faults.keySet().stream().sorted().toList();
    long end = System.nanoTime() + LENGTH.toNanos();
    try {
      while (System.nanoTime() < end) {
        Thread.sleep(between(2, 12));
        String name = names.get(random.nextInt(names.size()));
        Objects.requireNonNull(faults.get(name)).happen();
        happened.merge(name, 1, Integer::sum);
      }
    } finally {
      load.end();
      System.out.printf("storm of seed %d: faults %s%n", SEED, happened);
    }
    Load.Seen seen = clients.get();
    System.out.printf(
        "storm of seed %d: %d accepted, %d of archives%n",
        SEED, seen.ids().size(), seen.uploaded().size());
    assertThat(seen.surprises()).isEmpty();
    return seen;
  }

  private void check(String store, Load.Seen seen) throws IOException {
    List<String> accepted = seen.ids();
    assertThat(accepted).doesNotHaveDuplicates().hasSizeGreaterThan(100);
    assertThat(seen.uploaded()).hasSizeGreaterThan(10);
    Set<String> uploaded = Set.copyOf(seen.uploaded());
    try (RunStore opened = RunStore.open(InstantServer.address(store))) {
      Map<String, Map<Integer, Verdict>> verdicts = new HashMap<>();
      for (RunInfo run : opened.runs()) {
        Map<Integer, Verdict> own = opened.verdicts(run.id());
        assertThat(own.values())
            .as("devices of a run")
            .allMatch(each -> each.judgement().device().name().equals(run.device().name()));
        verdicts.put(run.id(), own);
      }
      Set<String> identities = new HashSet<>();
      Set<String> counted = new HashSet<>();
      for (int i = 0; i < accepted.size(); i += 500) {
        List<String> part = accepted.subList(i, Math.min(accepted.size(), i + 500));
        List<Submission> found = opened.service().submissions(part);
        assertThat(found).hasSize(part.size());
        for (Submission each : found) {
          assertThat(each.state()).isEqualTo(Submission.State.DONE);
          Verdict verdict =
              Objects.requireNonNull(verdicts.get(each.run())).get(each.outcome().position());
          assertThat(Objects.requireNonNull(verdict).provenance().identity())
              .isEqualTo(each.identity());
          if (uploaded.contains(each.id())) continue;
          identities.add(each.run() + each.identity().text());
          counted.add(each.run());
        }
      }
      assertThat(
              counted.stream()
                  .mapToInt(run -> Objects.requireNonNull(verdicts.get(run)).size())
                  .sum())
          .as("verdicts, one for each candidate of a run")
          .isEqualTo(identities.size());
      assertThat(opened.flaws()).isEmpty();
      assertThat(opened.service().queued()).isEmpty();
    }
  }

  /** A last start deletes what those left that were killed, once their workers have ended. */
  private void checkFolder(String store) throws Exception {
    Thread.sleep(WORKER_ENDS);
    server(store).close();
    assertThat(temporary).isEmptyDirectory();
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.map(each -> each.getFileName().toString()))
          .allMatch(name -> Set.of("disk", "postgres", "server.err", "temporary").contains(name));
    }
  }
}

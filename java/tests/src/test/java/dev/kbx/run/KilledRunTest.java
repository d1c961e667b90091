package dev.kbx.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import dev.kbx.TestPostgres;
import dev.kbx.TestProgram;
import dev.kbx.candidate.Candidate;
import dev.kbx.device.Workers;
import dev.kbx.judge.FakeWorkers;
import dev.kbx.judge.LocalReferee;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Several threads submit to one run in a process that is killed twice, and eight times with the
 * property {@code kbx.soak}.
 */
@Tag("soak")
class KilledRunTest {
  private static final int CANDIDATES = 240;
  private static final int THREADS = 4;
  private static final int KILLS = Boolean.getBoolean("kbx.soak") ? 5 : 2;
  private static final RunInfo RUN =
      new RunInfo(
          "20261124T000000-kill",
          Instant.EPOCH,
          null,
          List.of(),
          "suite",
          "*",
          List.of(),
          List.of(),
          FakeWorkers.DEVICE,
          Map.of(),
          CANDIDATES,
          1,
          "eager",
          "model",
          "general",
          "fp32",
          "kernel",
          false,
          null,
          null,
          null,
          null);

  @TempDir private Path folder;

  /** The process: goes on with the run until all candidates have a verdict. */
  static final class Judging {
    private Judging() {}

    public static void main(String... arguments) throws Exception {
      try (RunStore store = RunStore.open(address(arguments[0]));
          Workers workers = FakeWorkers.start()) {
        if (!store.has(RUN.id())) store.begin(RUN);
        LocalReferee referee =
            FakeWorkers.referee(FakeWorkers.slot(workers, 0), FakeWorkers.slot(workers, 1));
        try (RunService service =
            RunService.open(
                store,
                new RememberingReferee(referee, store),
                FakeWorkers.plan(),
                RUN,
                (_, verdict) -> System.out.println(verdict.provenance().sample()))) {
          List<Thread> threads = new ArrayList<>();
          for (int i = 0; i < THREADS; i++) {
            int first = i;
            threads.add(Thread.ofVirtual().start(() -> submit(service, first)));
          }
          for (Thread thread : threads) thread.join();
          service.finish();
        }
      }
    }

    private static void submit(RunService service, int first) {
      try {
        for (int i = first; i < CANDIDATES; i += THREADS) {
          var _ = service.submit(candidate(i));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static StoreAddress address(String text) {
    return text.startsWith("jdbc:") ? StoreAddress.of(text) : StoreAddress.of(Path.of(text));
  }

  /** Each third is the answer of another one, so that some wait for others and for memory. */
  private static Candidate candidate(int number) {
    return FakeWorkers.sample(
        FakeWorkers.candidate("task", Map.of("x", number - number % 3)), number);
  }

  @Test
  @Timeout(Patience.SECONDS)
  void eachCandidateHasOneVerdict() throws Exception {
    eachCandidateHasOneVerdict(folder.resolve("kbx.db").toString());
  }

  @Test
  @Timeout(Patience.SECONDS)
  void eachCandidateHasOneVerdictOnPostgreSql() throws Exception {
    eachCandidateHasOneVerdict(TestPostgres.newDatabase());
  }

  private void eachCandidateHasOneVerdict(String file) throws Exception {
    Random random = new Random(20);
    int before = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      Process process = start(file);
      // After it has judged some: never before its first verdict, however slow this machine is.
      int some = 5 + random.nextInt(20);
      try (var lines = process.inputReader()) {
        for (int i = 0; i < some; i++) {
          assertThat(lines.readLine()).as(Files.readString(folder.resolve("err"))).isNotNull();
        }
      }
      process.destroyForcibly().waitFor();
      try (RunStore store = RunStore.open(address(file))) {
        int now = store.count(RUN.id());
        assertThat(now).isGreaterThanOrEqualTo(before + some);
        before = now;
      }
    }
    Process last = start(file);
    try (var lines = last.inputReader()) {
      assertThat(lines.lines()).hasSize(CANDIDATES - before);
    }
    assertThat(last.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(last.exitValue()).as(Files.readString(folder.resolve("err"))).isZero();
    try (RunStore store = RunStore.open(address(file))) {
      assertThat(store.verdicts(RUN.id()).values())
          .extracting(verdict -> verdict.provenance().sample())
          .doesNotHaveDuplicates()
          .hasSize(CANDIDATES);
    }
  }

  private Process start(String file) throws Exception {
    List<String> command = new ArrayList<>(TestProgram.command("512m", Judging.class.getName()));
    command.add(file);
    return new ProcessBuilder(command).redirectError(folder.resolve("err").toFile()).start();
  }
}

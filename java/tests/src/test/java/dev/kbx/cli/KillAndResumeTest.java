package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A run killed with SIGKILL at random moments loses no verdict, gives none twice and leaves nothing
 * behind.
 */
@Tag("soak-only")
class KillAndResumeTest {
  private static final int KILLS = 5;

  /** Honest kernels that take longer than the kills, mostly to compile. */
  private static final String STYLES =
      "grid2d heuristics helpers integer libdevice plain strided autotune block_pointers classes"
          + " gather implicit_gemm online quantized random two_pass";

  @TempDir private Path folder;

  @Test
  void killedAndResumedRunHasTheSameResults() throws Exception {
    Random random = new Random(20261121);
    Path out = folder.resolve("out");
    Set<String> seen = new HashSet<>();
    for (int kill = 0; kill < KILLS; kill++) {
      Process process =
          Kbx.start(
              Kbx.home(),
              Map.of(),
              folder.resolve("out.log"),
              folder.resolve("err.log"),
              arguments(out));
      boolean ended = process.waitFor(2000 + random.nextInt(2500), TimeUnit.MILLISECONDS);
      List<ProcessHandle> workers = process.descendants().toList();
      process.destroyForcibly().waitFor();
      await().atMost(Patience.LIMIT).until(() -> gone(workers));
      Set<String> now = sources(out);
      assertThat(now).as("nothing that was judged is lost").containsAll(seen);
      seen = now;
      if (ended) break;
    }
    Kbx.Result last = Kbx.run(Kbx.home(), arguments(out));
    assertThat(last.exit()).as(last.err()).isZero();
    List<String> judged = Files.readAllLines(out.resolve("results.jsonl"));
    assertThat(judged)
        .hasSize(last.json().get("run").get("candidates").asInt())
        .allSatisfy(line -> assertThat(line).contains("\"status\":\"correct\""));
    assertThat(sources(out)).hasSize(judged.size());
    // Awaited: another test's kbx may be ending just now.
    await("memfds of the killed runs").atMost(Patience.LIMIT).until(() -> sharedMemory().isEmpty());
  }

  private static Object[] arguments(Path out) {
    List<Object> arguments = new ArrayList<>(List.of("eval"));
    for (String style : STYLES.split(" ", -1)) arguments.add("corpus/honest/" + style);
    arguments.addAll(List.of("--device", "cpu", "--jobs", 2, "--resume", "--json", "--out", out));
    return arguments.toArray();
  }

  private static boolean gone(List<ProcessHandle> workers) {
    return workers.stream().noneMatch(KillAndResumeTest::running);
  }

  /** An ended process that nobody has waited for is no longer running. */
  static boolean running(ProcessHandle worker) {
    try {
      String stat = Files.readString(Path.of("/proc", String.valueOf(worker.pid()), "stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException e) {
      return false;
    }
  }

  private static Set<String> sources(Path out) throws IOException {
    Path file = out.resolve("results.jsonl");
    if (!Files.exists(file)) return Set.of();
    JsonMapper json = JsonMapper.builder().build();
    List<String> sources =
        Files.readAllLines(file).stream()
            .map(json::readTree)
            .map((JsonNode v) -> v.get("source").asString())
            .toList();
    assertThat(sources).as("no verdict twice").doesNotHaveDuplicates();
    return new HashSet<>(sources);
  }

  /** Workers of this checkout that still hold an arena, by name of their memfd. */
  private static Set<String> sharedMemory() throws IOException {
    try (var processes = Files.list(Path.of("/proc"))) {
      return processes
          .filter(p -> p.getFileName().toString().matches("\\d+"))
          .filter(KillAndResumeTest::ofThisCheckout)
          .filter(p -> orphan(Long.parseLong(p.getFileName().toString())))
          .flatMap(KillAndResumeTest::memfds)
          .collect(Collectors.toSet());
    }
  }

  /** Another checkout's tests may run workers without a JVM beside this one. */
  private static boolean ofThisCheckout(Path process) {
    try {
      byte[] environment = Files.readAllBytes(process.resolve("environ"));
      return new String(environment, StandardCharsets.UTF_8)
          .contains("PYTHONPATH=" + Kbx.home().resolve("worker"));
    } catch (IOException e) {
      return false; // It has ended.
    }
  }

  /** Without a JVM above it; another kbx on this machine has one. */
  private static boolean orphan(long pid) {
    for (var p = ProcessHandle.of(pid); p.isPresent(); p = p.get().parent()) {
      if (p.get().info().command().orElse("").endsWith("/java")) return false;
    }
    return true;
  }

  private static java.util.stream.Stream<String> memfds(Path process) {
    try (var files = Files.list(process.resolve("fd"))) {
      return files
          .map(KillAndResumeTest::target)
          .filter(t -> t.startsWith("/memfd:kbx"))
          .map(t -> process.getFileName() + " " + t)
          .toList()
          .stream();
    } catch (IOException | java.io.UncheckedIOException e) {
      return java.util.stream.Stream.empty();
    }
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      return "";
    }
  }
}

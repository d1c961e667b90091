package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.llm.ScriptedProvider;
import dev.kbx.llm.ScriptedProvider.Asked;
import dev.kbx.llm.ScriptedReply;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * A run of many tasks, killed with SIGKILL at random moments and resumed, ends as one that was not:
 * no reply is asked for twice and none is lost.
 */
@Tag("soak-only")
class MethodKillTest {
  private static final Path SUITE = Path.of("tasks/kernelbenchx");
  private static final Pattern ENTRY = Pattern.compile("must define `(\\w+)`");

  @TempDir private Path folder;
  private final Map<String, String> kernels = new TreeMap<>();

  /** So many tasks whose kernels are quick to compile. */
  private String tasks(int count) throws IOException {
    List<String> names = new ArrayList<>();
    for (String category : List.of("Activation", "Math", "Fusion")) {
      try (Stream<Path> files = Files.list(SUITE.resolve(category).resolve("kernels"))) {
        for (Path file : files.sorted().toList()) {
          String name = file.getFileName().toString().replace(".py", "");
          if (names.size() == count || !Files.exists(SUITE.resolve(category).resolve(name + ".py")))
            continue;
          names.add(category + "/" + name);
          kernels.put(name, Files.readString(file));
        }
      }
    }
    assertThat(names).hasSize(count);
    return String.join(",", names);
  }

  /** Depends on the request alone: prose, a wrong kernel or a right one, and then a right one. */
  private ScriptedReply reply(Asked asked) {
    String prompt = asked.lastMessage();
    Matcher entry = ENTRY.matcher(prompt);
    assertThat(entry.find()).isTrue();
    String name = entry.group(1);
    String right = "```python\n" + kernels.get(name) + "```\n";
    if (prompt.contains("Your kernel of round")) return ScriptedReply.text(right);
    return ScriptedReply.text(
        switch (Math.floorMod(name.hashCode(), 3)) {
          case 0 -> "I need to think about it first.";
          case 1 -> "```python\ndef " + name + "(*arguments, **more):\n    return 0\n```\n";
          default -> right;
        });
  }

  private Object[] arguments(List<Object> command, Path models, String tasks, Path out) {
    List<Object> all = new ArrayList<>(command);
    all.addAll(List.of("--model", "openai-stream", "--models", models, "--tasks", tasks));
    all.addAll(List.of("--device", "cpu", "--seed", Kbx.SEED, "--out", out, "--resume"));
    return all.toArray();
  }

  private Path models(String name, ScriptedProvider provider) throws IOException {
    return ScriptedModels.write(
        Files.createDirectories(folder.resolve(name)), provider, "parallel = 6");
  }

  private void assertKillsChangeNothing(List<Object> command, int count, int kills, int pause)
      throws Exception {
    String tasks = tasks(count);
    Duration latency = Duration.ofMillis(200);
    Path whole = folder.resolve("whole/out");
    int undisturbed;
    try (ScriptedProvider provider = ScriptedProvider.start(this::reply, latency)) {
      Path models = models("whole", provider);
      Kbx.Result result = Kbx.run(Kbx.home(), arguments(command, models, tasks, whole));
      assertThat(result.exit()).as(result.err()).isZero();
      undisturbed = provider.requests();
    }
    Path out = folder.resolve("killed/out");
    try (ScriptedProvider provider = ScriptedProvider.start(this::reply, latency)) {
      Object[] arguments = arguments(command, models("killed", provider), tasks, out);
      Random random = new Random(20261125);
      for (int kill = 0; kill < kills; kill++) {
        kill(provider, random.nextInt(2 * undisturbed / kills), random.nextInt(pause), arguments);
      }
      Kbx.Result last = Kbx.run(Kbx.home(), arguments);
      assertThat(last.exit()).as(last.err()).isZero();

      LedgerEvents ledger = LedgerEvents.in(out);
      ledger.assertSameAs(LedgerEvents.in(whole));
      assertThat(ledger.of("reply").map(MethodKillTest::ask)).doesNotHaveDuplicates();
      assertThat(ledger.count("reply")).isEqualTo(undisturbed);
      assertThat(provider.requests())
          .as("only what was in flight is asked again")
          .isBetween(undisturbed, undisturbed + (int) ledger.count("lost"));
      Map<String, Integer> times = new HashMap<>();
      provider.asked().forEach(asked -> times.merge(asked.body().toString(), 1, Integer::sum));
      assertThat(times).hasSize(undisturbed);
    }
    assertThat(verdicts(out)).isEqualTo(verdicts(whole));
  }

  private static String ask(JsonNode event) {
    return LedgerEvents.unit(event) + ", " + event.path("ask").asString();
  }

  /** Starts the command and kills it when it has sent some requests, and a moment later. */
  private void kill(ScriptedProvider provider, int requests, int pause, Object... arguments)
      throws Exception {
    int before = provider.requests();
    Process process =
        Kbx.start(
            Kbx.home(), Map.of(), folder.resolve("out.log"), folder.resolve("err.log"), arguments);
    await()
        .atMost(Patience.LIMIT)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> provider.requests() >= before + requests || !process.isAlive());
    Thread.sleep(pause);
    List<ProcessHandle> workers = process.descendants().toList();
    process.destroyForcibly().waitFor();
    await()
        .atMost(Patience.LIMIT)
        .until(() -> workers.stream().noneMatch(KillAndResumeTest::running));
  }

  /** Lines of the final verdicts, without run, time and order; empty without them. */
  private static List<String> verdicts(Path out) throws IOException {
    Path file = out.resolve("results.jsonl");
    if (!Files.exists(file)) return List.of();
    try (Stream<String> lines = Files.lines(file)) {
      return lines
          .map(line ->
              line.replaceFirst(".*(\"task\":\"[^\"]*\").*(\"status\":\"\\w+\").*", "$1 $2"))
          .sorted()
          .toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  @Test
  void runKilledTwiceIsCompleted() throws Exception {
    assertKillsChangeNothing(List.of("generate", "--method", "sample", "--samples", 1), 24, 2, 300);
  }

  @Test
  void runWithFinalJudgementKilledFiveTimesIsCompleted() throws Exception {
    assertKillsChangeNothing(List.of("run", "--method", "refine", "--turns", 2), 10, 5, 4000);
  }
}

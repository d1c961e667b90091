package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.llm.ScriptedProvider;
import dev.kbx.llm.ScriptedProvider.Asked;
import dev.kbx.llm.ScriptedReply;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Whole runs of methods while the provider does what providers do. */
class ProviderFaultsTest {
  private static final ScriptedReply.Text HALF = ScriptedReply.text("half of a reply, ".repeat(40));

  private static final List<ScriptedReply> FAULTS =
      List.of(
          ScriptedReply.tooMany("1"),
          ScriptedReply.error(500, "api_error", "internal error"),
          ScriptedReply.error(529, "overloaded_error", "overloaded"),
          new ScriptedReply.Dropped(null),
          new ScriptedReply.Dropped(HALF),
          new ScriptedReply.Silent(null),
          new ScriptedReply.Silent(HALF),
          ScriptedReply.body("{\"choices\": [{\"mess"),
          ScriptedReply.body(""));

  @TempDir private Path folder;

  /** What the provider answers depends on the request alone. */
  private static ScriptedReply reply(Asked asked) {
    int number = asked.lastMessage().hashCode();
    return ScriptedReply.text(
        "```python\ndef tanh(x, out_tensor=None):\n    return %d\n```".formatted(number));
  }

  private Kbx.Result generate(ScriptedProvider provider, Path out, Path file, Object... more)
      throws IOException {
    // One request at a time for each model, so that a fault and a reply take turns.
    Path models =
        ScriptedModels.write(
            folder, provider, "parallel = 1", "timeout_seconds = 2", "attempts = 4");
    List<Object> arguments = new ArrayList<>(List.of("run", file, "--models", models));
    arguments.addAll(List.of("--out", out, "--device", "cpu", "--seed", "t", "--json"));
    arguments.addAll(List.of(more));
    return Kbx.here(arguments.toArray());
  }

  /** Each format takes each fault once; one method also gets feedback. */
  private Path file() throws IOException {
    StringBuilder text = new StringBuilder("tasks = \"Activation/tanh\"\n");
    for (String model : ScriptedModels.NAMES) {
      text.append("[[method]]\nmethod = \"sample\"\nname = \"%s\"\n".formatted(model));
      text.append("model = \"%s\"\nsamples = %d\n".formatted(model, FAULTS.size()));
    }
    text.append("[[method]]\nmethod = \"refine\"\nturns = 3\nmodel = \"anthropic-stream\"\n");
    return Files.writeString(folder.resolve("run.toml"), text);
  }

  @Test
  void transientFaultsChangeNoResult() throws Exception {
    Path calm = folder.resolve("calm");
    try (ScriptedProvider provider = ScriptedProvider.start(ProviderFaultsTest::reply)) {
      Kbx.Result result = generate(provider, calm, file());
      assertThat(result.exit()).as(result.err()).isZero();
    }
    Path rough = folder.resolve("rough");
    Map<String, AtomicInteger> requests = new ConcurrentHashMap<>();
    Function<Asked, ScriptedReply> script =
        asked -> {
          int n =
              requests.computeIfAbsent(asked.model(), _ -> new AtomicInteger()).getAndIncrement();
          return n % 2 == 1 ? reply(asked) : FAULTS.get(n / 2 % FAULTS.size());
        };
    try (ScriptedProvider provider = ScriptedProvider.start(script)) {
      Kbx.Result result = generate(provider, rough, file());
      assertThat(result.exit()).as(result.err()).isZero();
      LedgerEvents ledger = LedgerEvents.in(rough);
      assertThat(ledger.of("reply").mapToInt(reply -> reply.path("attempts").asInt()).sum())
          .isEqualTo(provider.requests());
      assertThat(ledger.of("reply"))
          .hasSize(4 * FAULTS.size() + 3)
          .allSatisfy(reply -> {
            int attempts = reply.path("attempts").asInt();
            assertThat(attempts).isGreaterThan(1);
            assertThat(reply.path("unmetered").asInt()).isEqualTo(attempts - 1);
          });
      ledger.assertSameAs(LedgerEvents.in(calm));
    }
    assertThat(statuses(rough)).isEqualTo(statuses(calm));
  }

  private static List<String> statuses(Path out) throws IOException {
    return Files.readAllLines(out.resolve("results.jsonl")).stream()
        .map(line -> line.replaceFirst(".*\"status\":\"(\\w+)\".*", "$1"))
        .sorted()
        .toList();
  }

  private Path sampling(int samples, String model) throws IOException {
    return Files.writeString(
        folder.resolve("run.toml"),
        """
        tasks = "Activation/tanh"
        [[method]]
        method = "sample"
        samples = %d
        model = "%s"
        """
            .formatted(samples, model));
  }

  /**
   * Silence that lasts leaves a trajectory open; the others end, and a later session completes it.
   */
  @Test
  void outageEndsTheRunWithOneLineAndIsResumed() throws Exception {
    Path out = folder.resolve("out");
    Path file = sampling(3, "anthropic-stream");
    AtomicInteger silent = new AtomicInteger();
    Function<Asked, ScriptedReply> script =
        asked -> silent.incrementAndGet() <= 3 ? new ScriptedReply.Silent(null) : reply(asked);
    try (ScriptedProvider provider = ScriptedProvider.start(script)) {
      Kbx.Result result = generate(provider, out, file);
      assertThat(result.exit()).as(result.err()).isEqualTo(2);
      assertThat(result.err())
          .contains("kbx: anthropic-stream: nothing arrived for 2 s (3 attempts)\n")
          .contains("1 of 3 trajectories have no answer")
          .endsWith("the same command with --resume goes on\n");
      assertThat(provider.requests()).isEqualTo(5);
      Kbx.Result resumed = generate(provider, out, file, "--resume");
      assertThat(resumed.exit()).as(resumed.err()).isZero();
      assertThat(provider.requests()).isEqualTo(6);
      LedgerEvents ledger = LedgerEvents.in(out);
      assertThat(ledger.count("selection")).isEqualTo(3);
      assertThat(ledger.of("no_reply").map((JsonNode e) -> e.path("reason").asString()))
          .containsExactly("silent");
    }
  }

  /** The provider is gone for longer than requests are repeated; a later session goes on. */
  @Test
  void resumeAfterALostProviderLosesNothing() throws Exception {
    Path out = folder.resolve("out");
    Path file = sampling(14, "openai-whole");
    Function<Asked, ScriptedReply> leaving =
        asked ->
            asked.number() > 3 ? ScriptedReply.error(503, "api_error", "upgrading") : reply(asked);
    try (ScriptedProvider provider = ScriptedProvider.start(leaving)) {
      Kbx.Result result = generate(provider, out, file);
      assertThat(result.exit()).as(result.err()).isEqualTo(2);
      assertThat(result.err()).endsWith("; --resume goes on when it answers\n");
      assertThat(result.out()).isEmpty();
      assertThat(LedgerEvents.in(out).count("reply")).isEqualTo(3);
    }
    try (ScriptedProvider provider = ScriptedProvider.start(ProviderFaultsTest::reply)) {
      Kbx.Result resumed = generate(provider, out, file, "--resume");
      assertThat(resumed.exit()).as(resumed.err()).isZero();
      assertThat(provider.requests()).as("no reply is asked for twice").isEqualTo(11);
      LedgerEvents ledger = LedgerEvents.in(out);
      assertThat(ledger.count("selection")).isEqualTo(14);
      assertThat(ledger.count("lost")).isZero();
      assertThat(resumed.json().path("verdicts")).hasSize(14);
    }
  }

  @Test
  void aRefusedKeyEndsTheRunAtOnce() throws Exception {
    try (ScriptedProvider provider =
        ScriptedProvider.start(_ ->
            ScriptedReply.error(401, "authentication_error", "invalid " + ScriptedModels.KEY))) {
      Kbx.Result result = generate(provider, folder.resolve("out"), file());
      assertThat(result.exit()).isEqualTo(2);
      assertThat(result.err())
          .containsOnlyOnce("the provider refuses this key or account (401)")
          .contains("--resume goes on when it answers\n")
          .doesNotContain(ScriptedModels.KEY, "a fault of kbx");
      assertThat(provider.requests()).isLessThan(10);
    }
  }
}

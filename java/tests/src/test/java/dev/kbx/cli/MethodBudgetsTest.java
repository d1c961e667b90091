package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ScriptedProvider;
import dev.kbx.llm.ScriptedReply;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Methods stop cleanly where a budget ends, and their controls have the same one. */
class MethodBudgetsTest {
  /** Without a kernel nothing is judged, and refine asks on. */
  private static final ScriptedReply PROSE = ScriptedReply.text("I am still thinking.");

  @TempDir private Path folder;

  private Kbx.Result generate(ScriptedProvider provider, Object... more) throws IOException {
    Path models =
        ScriptedModels.write(
            folder,
            provider,
            "parallel = 1",
            "price_input = 100.0",
            "price_output = 200.0",
            "price_as_of = 2026-11-25");
    List<Object> arguments = new ArrayList<>(List.of("generate", "--models", models));
    arguments.addAll(List.of("--model", "openai-stream", "--out", folder.resolve("out")));
    arguments.addAll(List.of("--device", "cpu", "--seed", "t", "--json"));
    arguments.addAll(List.of(more));
    return Kbx.here(arguments.toArray());
  }

  private static List<String> whys(LedgerEvents ledger) {
    return ledger.of("selection").map(event -> event.path("why").asString()).distinct().toList();
  }

  @Test
  void resumeWithOtherOptionsRepeatsNoRequest() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(_ -> PROSE)) {
      Object[] asked = {"--method", "single", "--tasks", "Activation/tanh"};
      assertThat(generate(provider, asked).exit()).isZero();
      Object[] other = {"--method", "single", "--tasks", "Activation/gelu", "--resume"};
      Kbx.Result refused = generate(provider, other);
      assertThat(refused.exit()).isEqualTo(1);
      assertThat(refused.err()).contains("has these methods, models and tasks; its newest is ");
      assertThat(provider.requests()).isEqualTo(1);
    }
  }

  /** A request costs 10 + 20 tokens and 0.005 USD; it is one call. */
  @ParameterizedTest
  @CsvSource({
    "calls=2, 2, 2 calls",
    "tokens=61, 3, 61 tokens",
    "usd=0.011, 3, 0.011 USD",
    "'tokens=1000,calls=4', 4, 4 calls"
  })
  void limitForEachTrajectoryEndsIt(String budget, int requests, String what) throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(_ -> PROSE)) {
      Kbx.Result result =
          generate(
              provider,
              "--method",
              "refine",
              "--turns",
              6,
              "--tasks",
              "Activation/tanh,Activation/gelu",
              "--budget",
              budget);
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(provider.requests()).as("both tasks").isEqualTo(2 * requests);
      LedgerEvents ledger = LedgerEvents.in(folder.resolve("out"));
      assertThat(whys(ledger)).containsExactly("no reply has code, within " + what);
      assertThat(ledger.count("selection")).isEqualTo(2);
      JsonNode spent = result.json().path("methods").path(0).path("spent");
      assertThat(spent.path("calls").asInt()).isEqualTo(2 * requests);
      assertThat(spent.path("tokens").asInt()).isEqualTo(60 * requests);
    }
  }

  @ParameterizedTest
  @CsvSource({"calls=5, 5, 5 calls", "tokens=61, 3, 61 tokens", "usd=0.011, 3, 0.011 USD"})
  void limitForAllTrajectoriesEndsTheRun(String budget, int requests, String what)
      throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(_ -> PROSE)) {
      Kbx.Result result =
          generate(
              provider,
              "--method",
              "sample",
              "--samples",
              9,
              "--tasks",
              "Activation/tanh",
              "--total-budget",
              budget);
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(provider.requests()).isEqualTo(requests);
      LedgerEvents ledger = LedgerEvents.in(folder.resolve("out"));
      assertThat(ledger.count("selection")).as("those not begun have an outcome, too").isEqualTo(9);
      assertThat(whys(ledger))
          .containsExactlyInAnyOrder("no reply has code", "no reply, within " + what);
    }
  }

  private static final ScriptedReply BUSY = ScriptedReply.error(503, "api_error", "loading");

  /** Every request fails twice before it is answered. */
  private static ScriptedReply thirdTime(ScriptedProvider.Asked asked) {
    return asked.number() % 3 == 0 ? PROSE : BUSY;
  }

  @ParameterizedTest
  @CsvSource({"--budget, 7", "--total-budget, 5"})
  void requestLimitCountsRetries(String option, int requests) throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(MethodBudgetsTest::thirdTime)) {
      Kbx.Result result =
          generate(
              provider,
              "--method",
              "refine",
              "--turns",
              6,
              "--tasks",
              "Activation/tanh",
              option,
              "requests=" + requests);
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(provider.requests()).isEqualTo(requests);
      LedgerEvents ledger = LedgerEvents.in(folder.resolve("out"));
      assertThat(whys(ledger))
          .containsExactly("no reply has code, within %d requests".formatted(requests));
      JsonNode spent = result.json().path("methods").path(0).path("spent");
      assertThat(spent.path("requests").asInt()).isEqualTo(requests);
      assertThat(spent.path("calls").asInt()).isEqualTo((requests + 2) / 3);
      int answered = requests / 3;
      assertThat(spent.path("tokens").asInt()).isEqualTo(30 * answered);
      assertThat(spent.path("uncounted").asInt()).isEqualTo(requests - answered);
      assertThat(spent.path("unpriced").asInt()).isEqualTo(requests - answered);
    }
  }

  /** Many trajectories at once do not go beyond it together. */
  @Test
  void requestLimitHoldsForConcurrentRequests() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(_ -> BUSY)) {
      Kbx.Result result =
          generate(
              provider,
              "--method",
              "sample",
              "--samples",
              9,
              "--tasks",
              "Activation/tanh",
              "--total-budget",
              "requests=6");
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(provider.requests()).isEqualTo(6);
      assertThat(LedgerEvents.in(folder.resolve("out")).count("selection")).isEqualTo(9);
    }
  }

  @Test
  void requestsOfUnknownCostAreShownBesideTheMoney() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(MethodBudgetsTest::thirdTime)) {
      Path models =
          ScriptedModels.write(
              folder,
              provider,
              "parallel = 1",
              "price_input = 1000.0",
              "price_output = 2000.0",
              "price_as_of = 2026-11-25");
      Kbx.Result result =
          Kbx.here(
              "generate",
              "--models",
              models,
              "--model",
              "openai-stream",
              "--out",
              folder.resolve("out"),
              "--device",
              "cpu",
              "--method",
              "single",
              "--tasks",
              "Activation/tanh");
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(result.out())
          .contains("1, 3 requests, 2 without usage: not priced")
          .contains("≥ 0.05");
    }
  }

  /** The cap was never reached, as each reply was believed to pay something back. */
  @Test
  void negativeUsageDoesNotReduceTheCost() throws Exception {
    ScriptedReply paid =
        ScriptedReply.text("I am still thinking.").usage(new Usage(10L, 20L, null, null));
    ScriptedReply refund =
        ScriptedReply.body(
            """
            {"choices": [{"message": {"content": "Still."}, "finish_reason": "stop"}],
             "usage": {"prompt_tokens": -100000, "completion_tokens": -200000}}
            """);
    try (ScriptedProvider provider =
        ScriptedProvider.start(asked -> asked.number() == 2 ? refund : paid)) {
      Kbx.Result result =
          generate(
              provider,
              "--method",
              "refine",
              "--turns",
              6,
              "--tasks",
              "Activation/tanh",
              "--budget",
              "usd=0.011");
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(provider.requests()).isEqualTo(4);
      JsonNode spent = result.json().path("methods").path(0).path("spent");
      assertThat(spent.path("usd").asDouble()).isEqualTo(0.015);
      assertThat(spent.path("unpriced").asInt()).isEqualTo(1);
    }
  }

  @Test
  void wallSecondsEndATrajectory() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(_ -> PROSE, Duration.ofMillis(400))) {
      Kbx.Result result =
          generate(
              provider,
              "--method",
              "refine",
              "--turns",
              50,
              "--tasks",
              "Activation/tanh",
              "--budget",
              "wall=1");
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(provider.requests()).isBetween(1, 3);
      assertThat(whys(LedgerEvents.in(folder.resolve("out"))))
          .containsExactly("no reply has code, within 1 wall seconds");
    }
  }

  @Test
  void deviceSecondsEndATrajectoryWithItsBestCandidate() throws Exception {
    String kernel = Files.readString(Path.of("tasks/kernelbenchx/Activation/kernels/tanh.py"));
    try (ScriptedProvider provider =
        ScriptedProvider.start(_ -> ScriptedReply.text("```python\n" + kernel + "```"))) {
      Kbx.Result result =
          generate(
              provider,
              "--method",
              "refine",
              "--turns",
              4,
              "--tasks",
              "Activation/tanh",
              "--budget",
              "device=0.001");
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(provider.requests()).as("one judgement is beyond the limit").isEqualTo(1);
      JsonNode method = result.json().path("methods").path(0);
      assertThat(method.path("development").path("passes").asInt()).isEqualTo(1);
      assertThat(method.path("spent").path("device_seconds").asDouble()).isGreaterThan(0.001);
      assertThat(whys(LedgerEvents.in(folder.resolve("out"))))
          .containsExactly("first correct, within 0.001 device seconds");
    }
  }

  /** A control may spend what its method may, and spends what is the same for both as it does. */
  @ParameterizedTest
  @ValueSource(strings = {"refine", "geak", "kernelagent", "evolve"})
  void controlRunHasTheBudgetOfItsMethod(String method) throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(_ -> PROSE)) {
      Kbx.Result result =
          generate(
              provider,
              "--method",
              method,
              "--turns",
              method.equals("geak") ? 3 : 6,
              "--tasks",
              "Activation/tanh",
              "--control",
              "--budget",
              "calls=5");
      assertThat(result.exit()).as(result.err()).isZero();
      JsonNode methods = result.json().path("methods");
      assertThat(methods.path(1).path("method").asString()).isEqualTo(method + "-control");
      assertThat(methods)
          .extracting(row -> row.path("spent").path("calls").asInt())
          .containsExactly(5, 5);
      assertThat(provider.requests()).isEqualTo(10);
      String header =
          Files.readAllLines(Path.of(result.json().path("ledger").asString())).getFirst();
      assertThat(header).contains("\"method\":\"bestof\",\"turns\":1,\"width\":5");
    }
  }
}

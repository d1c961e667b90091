package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ProviderLimits.TokenBucket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits of a provider, shared by its models. */
class LimitsTest {
  @TempDir private Path folder;

  @Test
  void bucketHoldsTenSecondsAndFillsEvenly() {
    FakeTime time = new FakeTime();
    TokenBucket bucket = new TokenBucket(60, time);
    for (int i = 0; i < 10; i++) assertThat(bucket.take(1)).isZero();
    assertThat(bucket.take(1)).isEqualTo(Duration.ofSeconds(1));
    assertThat(bucket.take(1)).isEqualTo(Duration.ofSeconds(2));
    time.pass(Duration.ofSeconds(2));
    assertThat(bucket.take(1)).isEqualTo(Duration.ofSeconds(1));
    time.pass(Duration.ofHours(1));
    for (int i = 0; i < 10; i++) assertThat(bucket.take(1)).isZero();
    assertThat(bucket.take(1)).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void requestAboveTheBucketWaitsAndItsEstimateIsCorrected() {
    FakeTime time = new FakeTime();
    TokenBucket bucket = new TokenBucket(6_000, time); // 100 a second, 1,000 held
    assertThat(bucket.take(3_000)).isEqualTo(Duration.ofSeconds(20));
    assertThat(bucket.take(-2_500)).isZero();
    assertThat(bucket.take(500)).isZero();
    assertThat(bucket.take(100)).isEqualTo(Duration.ofSeconds(1));
  }

  private ModelCatalog twoModels(
      ScriptedProvider server, String first, String second, FakeTime time) throws Exception {
    String table =
        """
        [[model]]
        name = "%s"
        provider = "openai"
        base_url = "%s"
        %s
        """;
    Path file =
        Files.writeString(
            folder.resolve("models.toml"),
            table.formatted("a", server.address(), first)
                + table.formatted("b", server.address() + "/", second));
    return ModelCatalog.read(file, java.util.Map.of(), () -> Path.of(""), time, () -> 0);
  }

  @Test
  void requestLimitIsSharedByModelsOfOneProvider() throws Exception {
    FakeTime time = new FakeTime();
    try (ScriptedProvider server = ScriptedProvider.start(_ -> ScriptedReply.text("x"))) {
      ModelCatalog catalog = twoModels(server, "requests_per_minute = 12", "", time);
      try (ChatModel a = catalog.open("a");
          ChatModel b = catalog.open("b")) {
        for (int i = 0; i < 2; i++) {
          var _ = a.ask(Asking.request("hi"));
          var _ = b.ask(Asking.request("hi"));
        }
      }
      // Two at once, then one every five seconds.
      assertThat(time.pauses()).containsExactly(Duration.ofSeconds(5), Duration.ofSeconds(5));
    }
  }

  @Test
  void tokenLimitUsesReportedTokens() throws Exception {
    FakeTime time = new FakeTime();
    ScriptedReply.Text large = ScriptedReply.text("x").usage(new Usage(1_000L, 2_000L, null, null));
    try (ScriptedProvider server = ScriptedProvider.start(_ -> large)) {
      ModelCatalog catalog = twoModels(server, "tokens_per_minute = 6000", "", time);
      try (ChatModel a = catalog.open("a");
          ChatModel b = catalog.open("b")) {
        var _ = a.ask(Asking.request("x".repeat(400)));
        assertThat(time.pauses()).isEmpty();
        // 1,000 held, 3,000 used, 100 estimated: 2,100 are missing at 100 a second.
        var _ = b.ask(Asking.request("x".repeat(400)));
        assertThat(time.pauses()).containsExactly(Duration.ofSeconds(21));
      }
    }
  }

  @Test
  void concurrencyLimitIsSharedAndTheStricterHolds() throws Exception {
    Duration latency = Duration.ofMillis(20);
    try (ScriptedProvider server = ScriptedProvider.start(_ -> ScriptedReply.text("x"), latency);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      ModelCatalog catalog = twoModels(server, "parallel = 3", "parallel = 64", new FakeTime());
      try (ChatModel a = catalog.open("a");
          ChatModel b = catalog.open("b")) {
        assertThat(a.parallel()).isEqualTo(3);
        assertThat(b.parallel()).isEqualTo(3);
        List<Future<ChatReply>> replies = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
          ChatModel model = i % 2 == 0 ? a : b;
          replies.add(threads.submit(() -> model.ask(Asking.request("hi"))));
        }
        for (Future<ChatReply> reply : replies) assertThat(reply.get().text()).isEqualTo("x");
      }
      assertThat(server.requests()).isEqualTo(12);
      assertThat(server.mostInFlight()).isEqualTo(3);
    }
  }

  /** A failed attempt does not keep its place while it waits to be repeated. */
  @Test
  void pausedRequestReleasesItsPlace() throws Exception {
    FakeTime time = new FakeTime();
    try (ScriptedProvider server =
        ScriptedProvider.start(asked ->
            asked.number() <= 3 ? ScriptedReply.error(500, "", "no") : ScriptedReply.text("x"))) {
      ModelCatalog catalog = twoModels(server, "parallel = 1", "", time);
      try (ChatModel a = catalog.open("a")) {
        assertThat(a.ask(Asking.request("hi")).attempts()).isEqualTo(4);
        assertThat(a.ask(Asking.request("hi")).attempts()).isEqualTo(1);
      }
    }
  }
}

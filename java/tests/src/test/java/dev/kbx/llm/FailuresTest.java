package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ModelFailure.Kind;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes wrong at a provider, over real HTTP. */
class FailuresTest {
  private static final ScriptedReply.Text SAID = ScriptedReply.text("The kernel is below.");

  @TempDir private Path folder;

  /** A failing reply is followed by a good one. */
  private static Function<ScriptedProvider.Asked, ScriptedReply> firstly(ScriptedReply... replies) {
    return asked -> asked.number() <= replies.length ? replies[asked.number() - 1] : SAID;
  }

  private ModelFailure failure(ScriptedReply always, String provider, String... lines)
      throws Exception {
    try (ScriptedProvider server = ScriptedProvider.start(_ -> always);
        Asking asking = new Asking(folder, server, provider, lines)) {
      ModelFailure failure = failure(asking);
      assertThat(server.requests()).isEqualTo(failure.attempts());
      return failure;
    }
  }

  private static ModelFailure failure(Asking asking) {
    ModelFailure failure = catchThrowableOfType(ModelFailure.class, () -> asking.ask("hi"));
    assertThat(failure).as("a failure").isNotNull();
    assertThat(failure.getMessage()).startsWith("m: ").doesNotContain("\n");
    return failure;
  }

  static List<ScriptedReply> passing() {
    return List.of(
        ScriptedReply.error(500, "api_error", "internal"),
        ScriptedReply.error(502, "", "bad gateway"),
        ScriptedReply.error(503, "", "loading"),
        ScriptedReply.error(529, "overloaded_error", "busy"),
        ScriptedReply.error(408, "", "timeout"),
        ScriptedReply.error(409, "", "conflict"),
        ScriptedReply.error(429, "rate_limit_error", "slow down"),
        new ScriptedReply.Raw(500, Map.of(), "<html>no JSON</html>"),
        new ScriptedReply.Dropped(null),
        new ScriptedReply.Dropped(SAID),
        ScriptedReply.body(""),
        ScriptedReply.body("{\"choices\": [{\"message\": {\"con"),
        ScriptedReply.body("[]"),
        ScriptedReply.body("{\"choices\": []}"),
        ScriptedReply.body("{\"error\": {\"message\": \"upstream\", \"code\": 502}}"),
        ScriptedReply.body("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}"),
        new ScriptedReply.Raw(200, Map.of("Content-Type", "text/event-stream"), ""),
        new ScriptedReply.Raw(
            200, Map.of("Content-Type", "text/event-stream"), "data: {\"choices\": [{\n\n"),
        new ScriptedReply.Raw(
            200,
            Map.of("Content-Type", "text/event-stream"),
            "data: {\"error\": {\"message\": \"out of memory\"}}\n\n"));
  }

  @ParameterizedTest
  @MethodSource("passing")
  void transientErrorsAreRetried(ScriptedReply failing) throws Exception {
    for (String provider : List.of("openai", "anthropic")) {
      for (boolean stream : new boolean[] {true, false}) {
        try (ScriptedProvider server = ScriptedProvider.start(firstly(failing, failing));
            Asking asking = new Asking(folder, server, provider, "stream = " + stream)) {
          ChatReply reply = asking.ask("hi");
          assertThat(reply.text()).isEqualTo(SAID.text());
          assertThat(reply.attempts()).isEqualTo(3);
          assertThat(asking.time().pauses())
              .containsExactly(Duration.ofMillis(500), Duration.ofSeconds(1));
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "400, invalid_request_error, temperature is not supported,        INVALID_REQUEST",
    "422, '',                    max_tokens: Input should be greater, INVALID_REQUEST",
    "301, '',                    moved,                               INVALID_REQUEST",
    "400, invalid_request_error, prompt is too long: 210000 tokens,   CONTEXT_TOO_LONG",
    "400, context_length_exceeded, 'This model''s limit is 8192',     CONTEXT_TOO_LONG",
    "400, BadRequestError, This model's maximum context length is 4096 tokens, CONTEXT_TOO_LONG",
    "400, INVALID_ARGUMENT, The input token count exceeds the maximum number of tokens,"
        + " CONTEXT_TOO_LONG",
    "413, request_too_large,     too large,                           CONTEXT_TOO_LONG",
    "401, authentication_error,  invalid x-api-key,                   AUTHENTICATION",
    "402, '',                    Insufficient Balance,                AUTHENTICATION",
    "403, permission_error,      not yours,                           AUTHENTICATION",
    "400, INVALID_ARGUMENT,      API key not valid,                   AUTHENTICATION",
    "429, insufficient_quota,    You exceeded your current quota,     AUTHENTICATION",
    "400, invalid_request_error, Your credit balance is too low,      AUTHENTICATION",
    "404, not_found_error,       model: claude-x,                     UNKNOWN_MODEL",
    "400, model_not_found,       no such model,                       UNKNOWN_MODEL",
  })
  void permanentErrorsAreNotRetried(int status, String type, String message, Kind kind)
      throws Exception {
    for (String provider : List.of("openai", "anthropic")) {
      ModelFailure failure = failure(ScriptedReply.error(status, type, message), provider);
      assertThat(failure.kind()).isEqualTo(kind);
      assertThat(failure.attempts()).isEqualTo(1);
      assertThat(failure).hasMessageContaining(message).hasMessageContaining("(" + status + ")");
      assertThat(failure.fatal())
          .isEqualTo(kind == Kind.AUTHENTICATION || kind == Kind.UNKNOWN_MODEL);
    }
  }

  @Test
  void errorsOfOtherFormsAreRead() throws Exception {
    record Shape(String body, String message) {}
    for (Shape shape :
        List.of(
            new Shape("{\"error\": \"model 'x' not found\"}", "model 'x' not found"),
            new Shape("[{\"error\": {\"message\": \"from Gemini\"}}]", "from Gemini"),
            new Shape("{\"object\": \"error\", \"message\": \"from vLLM\"}", "from vLLM"),
            new Shape("{\"detail\": \"Not Found\"}", "Not Found"),
            new Shape("404 page\nnot \u001b[31mfound", "404 page not [31mfound"))) {
      ModelFailure failure = failure(new ScriptedReply.Raw(404, Map.of(), shape.body()), "openai");
      assertThat(failure.kind()).isEqualTo(Kind.UNKNOWN_MODEL);
      assertThat(failure).hasMessageContaining(shape.message());
    }
  }

  @Test
  void attemptsAreBounded() throws Exception {
    ScriptedReply busy = ScriptedReply.error(529, "overloaded_error", "busy");
    ModelFailure failure = failure(busy, "anthropic");
    assertThat(failure.attempts()).isEqualTo(8);
    assertThat(failure.kind()).isEqualTo(Kind.OVERLOADED);
    assertThat(failure.fatal()).isFalse();
    assertThat(failure.charged()).isNull();
    assertThat(failure(busy, "anthropic", "attempts = 2").attempts()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"429, RATE_LIMITED", "500, OVERLOADED", "408, OVERLOADED"})
  void lastFailureIsTheReason(int status, Kind kind) throws Exception {
    ModelFailure failure = failure(ScriptedReply.error(status, "", "no"), "openai");
    assertThat(failure.kind()).isEqualTo(kind);
    assertThat(failure).hasMessageContaining("(8 attempts)");
  }

  /** A limit by the minute passes, though the message speaks of billing. */
  @Test
  void rateLimitThatMentionsBillingIsRetried() throws Exception {
    for (ScriptedReply busy :
        List.of(
            ScriptedReply.error(429, "rate_limit_exceeded", "add a payment method at /billing"),
            ScriptedReply.error(429, "RESOURCE_EXHAUSTED", "exceeded your quota, check billing"))) {
      assertThat(failure(busy, "openai").kind()).isEqualTo(Kind.RATE_LIMITED);
    }
  }

  @Test
  void pausesSumToOverAMinute() throws Exception {
    try (ScriptedProvider server =
            ScriptedProvider.start(_ -> ScriptedReply.error(429, "", "slow down"));
        Asking asking = new Asking(folder, server, "openai")) {
      var _ = failure(asking);
      Duration all = asking.time().pauses().stream().reduce(Duration.ZERO, Duration::plus);
      assertThat(all).isGreaterThan(Duration.ofMinutes(1)); // The clock's jitter is the least.
    }
  }

  /** A provider that hangs is not waited for six times. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void silentResponseIsCutOff(boolean begun) throws Exception {
    ModelFailure failure =
        failure(new ScriptedReply.Silent(begun ? SAID : null), "openai", "timeout_seconds = 0.05");
    assertThat(failure.kind()).isEqualTo(Kind.SILENT);
    assertThat(failure.attempts()).isEqualTo(3);
    assertThat(failure).hasMessageContaining("nothing arrived for 0.05 s");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void attemptAfterASilentResponseMaySucceed(boolean begun) throws Exception {
    ScriptedReply silence = new ScriptedReply.Silent(begun ? SAID : null);
    try (ScriptedProvider server = ScriptedProvider.start(firstly(silence));
        Asking asking = new Asking(folder, server, "anthropic", "timeout_seconds = 0.5")) {
      ChatReply reply = asking.ask("hi");
      assertThat(reply.text()).isEqualTo(SAID.text());
      assertThat(reply.attempts()).isBetween(2, 3);
    }
  }

  @Test
  void refusedConnectionIsAFailure() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }
    String address = "http://127.0.0.1:" + port + "/v1";
    Path file =
        Files.writeString(
            folder.resolve("models.toml"),
            "[[model]]\nname = \"m\"\nprovider = \"openai\"\nbase_url = \"%s\"\n"
                .formatted(address));
    try (Asking asking = new Asking(file)) {
      ModelFailure failure = failure(asking);
      assertThat(failure.kind()).isEqualTo(Kind.UNREACHABLE);
      assertThat(failure)
          .hasMessage(
              "m: no connection to %s (8 attempts); is a server running there?".formatted(address));
    }
  }

  @Test
  void retryAfterIsHonoured() throws Exception {
    ScriptedReply seconds = ScriptedReply.tooMany("7");
    ScriptedReply date = ScriptedReply.tooMany("Wed, 25 Nov 2026 10:00:20 GMT");
    ScriptedReply tomorrow = ScriptedReply.tooMany("86400");
    ScriptedReply nonsense = ScriptedReply.tooMany("soon");
    try (ScriptedProvider server =
            ScriptedProvider.start(firstly(seconds, date, tomorrow, nonsense));
        Asking asking = new Asking(folder, server, "openai")) {
      assertThat(asking.ask("hi").attempts()).isEqualTo(5);
      assertThat(asking.time().pauses())
          .containsExactly(
              Duration.ofSeconds(7),
              Duration.ofSeconds(13), // until the date, 7 s later
              Duration.ofMinutes(10), // the longest
              Duration.ofSeconds(4)); // by the number of attempts
    }
  }

  /** Others of the same provider do not ask before it is time either. */
  @Test
  void retryAfterHoldsForAllRequests() throws Exception {
    try (ScriptedProvider server = ScriptedProvider.start(firstly(ScriptedReply.tooMany("30")));
        Asking asking = new Asking(folder, server, "openai", "attempts = 1")) {
      assertThatThrownBy(() -> asking.ask("one")).isInstanceOf(ModelFailure.class);
      assertThat(asking.time().pauses()).isEmpty();
      assertThat(asking.ask("two").text()).isEqualTo(SAID.text());
      assertThat(asking.time().pauses()).containsExactly(Duration.ofSeconds(30));
    }
  }

  /** Anthropic reports the input when a stream begins. */
  @Test
  void tokensOfFailedAttemptsAreCharged() throws Exception {
    ScriptedReply.Text long1 =
        ScriptedReply.text("x".repeat(4000)).usage(new Usage(700L, 90L, null, null));
    ScriptedReply dropped = new ScriptedReply.Dropped(long1);
    try (ScriptedProvider server = ScriptedProvider.start(firstly(dropped, dropped));
        Asking asking = new Asking(folder, server, "anthropic")) {
      assertThat(asking.ask("hi").usage())
          .isEqualTo(new Usage(700L + 700 + 10, 1L + 1 + 20, null, null));
    }
    ModelFailure failure = failure(dropped, "anthropic", "attempts = 2");
    assertThat(failure.kind()).isEqualTo(Kind.UNREACHABLE);
    assertThat(failure.charged()).isEqualTo(new Usage(1400L, 2L, null, null));
  }

  /** A reply that was cut off costs more than was told before. */
  @Test
  void attemptsOfUnknownTokensAreCounted() throws Exception {
    ScriptedReply busy = ScriptedReply.error(503, "", "loading");
    ScriptedReply dropped = new ScriptedReply.Dropped(SAID);
    ScriptedReply noMessage =
        ScriptedReply.body(
            "{\"choices\": [], \"usage\": {\"prompt_tokens\": 5, \"completion_tokens\": 0}}");
    for (String provider : List.of("openai", "anthropic")) {
      try (ScriptedProvider server =
              ScriptedProvider.start(firstly(busy, dropped, ScriptedReply.body("")));
          Asking asking = new Asking(folder, server, provider)) {
        ChatReply reply = asking.ask("hi");
        assertThat(reply.attempts()).isEqualTo(4);
        assertThat(reply.unmetered()).as(provider).isEqualTo(3);
      }
      ModelFailure failure = failure(dropped, provider, "attempts = 2");
      assertThat(failure.unmetered()).as(provider).isEqualTo(2);
    }
    try (ScriptedProvider server = ScriptedProvider.start(firstly(noMessage));
        Asking asking = new Asking(folder, server, "openai")) {
      ChatReply reply = asking.ask("hi");
      assertThat(reply.usage()).isEqualTo(new Usage(15L, 20L, null, null));
      assertThat(reply.unmetered()).as("that told all").isZero();
    }
  }

  @Test
  void budgetMayForbidRetries() throws Exception {
    try (ScriptedProvider server =
            ScriptedProvider.start(_ -> ScriptedReply.error(503, "", "loading"));
        Asking asking = new Asking(folder, server, "openai")) {
      AtomicInteger allowed = new AtomicInteger(2);
      ModelFailure failure =
          catchThrowableOfType(
              ModelFailure.class,
              () -> asking.model().ask(Asking.request("hi"), () -> allowed.getAndDecrement() > 0));
      assertThat(failure.attempts()).isEqualTo(3);
      assertThat(server.requests()).isEqualTo(3);
    }
  }

  /** Counts that cannot be: nothing of such a usage is believed. */
  @ParameterizedTest
  @CsvSource({
    "-700, 90, 0",
    "700, -90, 0",
    "700, 90, -5",
    "700.5, 90, 0",
    "1e300, 90, 0",
    "9223372036854775807, 90, 0",
    "700, 90, 9e15",
    "'\"700\"', 90, 0",
  })
  void impossibleUsageIsUnknown(String input, String output, String cached) throws Exception {
    ScriptedReply openAi =
        ScriptedReply.body(
            """
            {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
             "usage": {"prompt_tokens": %s, "completion_tokens": %s,
                       "prompt_tokens_details": {"cached_tokens": %s}}}
            """
                .formatted(input, output, cached));
    ScriptedReply anthropic =
        ScriptedReply.body(
            """
            {"type": "message", "content": [{"type": "text", "text": "x"}],
             "stop_reason": "end_turn",
             "usage": {"input_tokens": %s, "output_tokens": %s, "cache_read_input_tokens": %s}}
            """
                .formatted(input, output, cached));
    for (String provider : List.of("openai", "anthropic")) {
      ScriptedReply told = provider.equals("openai") ? openAi : anthropic;
      try (ScriptedProvider server = ScriptedProvider.start(_ -> told);
          Asking asking = new Asking(folder, server, provider)) {
        ChatReply reply = asking.ask("hi");
        assertThat(reply.text()).isEqualTo("x");
        assertThat(reply.usage()).as(provider).isNull();
        assertThat(reply.unmetered()).isEqualTo(1);
      }
    }
  }

  /** More came from the cache than was sent: the price would be negative. */
  @Test
  void tokenPartsAboveTheTotalAreIgnored() {
    Usage usage = new Usage(10L, 20L, 5_000L, 30L, 7_000L);
    assertThat(usage).isEqualTo(new Usage(10L, 20L, null, null, null));
    assertThat(new Usage(10L, 20L, 6L, 20L, 5L)).isEqualTo(new Usage(10L, 20L, 6L, 20L, null));
    assertThat(new Usage(-1L, 20L, null, null)).isEqualTo(new Usage(null, 20L, null, null));
  }

  /** A reply is complete when its end is known, whatever becomes of the connection. */
  @Test
  void completeReplyIsKeptThoughTheConnectionBreaks() throws Exception {
    String events =
        """
        data: {"choices": [{"delta": {"content": "whole"}, "finish_reason": "stop"}]}

        """;
    ScriptedReply cut =
        new ScriptedReply.Raw(200, Map.of("Content-Type", "text/event-stream"), events);
    try (ScriptedProvider server = ScriptedProvider.start(_ -> cut);
        Asking asking = new Asking(folder, server, "openai")) {
      ChatReply reply = asking.ask("hi");
      assertThat(reply.text()).isEqualTo("whole");
      assertThat(reply.attempts()).isEqualTo(1);
    }
  }

  @Test
  void closingAModelEndsItsRequests() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    ScriptedReply silence = new ScriptedReply.Silent(SAID);
    try (ScriptedProvider server =
            ScriptedProvider.start(_ -> {
              arrived.countDown();
              return silence;
            });
        Asking asking = new Asking(folder, server, "openai")) {
      Thread closer =
          Thread.ofVirtual()
              .start(() -> {
                try {
                  arrived.await();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
                asking.model().close();
              });
      ModelFailure failure = failure(asking);
      closer.join();
      assertThat(failure.kind()).isEqualTo(Kind.UNREACHABLE);
      assertThat(failure.attempts()).isEqualTo(1);
    }
  }

  @Test
  void anInterruptCutsARequestOff() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    ScriptedReply silence = new ScriptedReply.Silent(SAID);
    try (ScriptedProvider server =
            ScriptedProvider.start(_ -> {
              arrived.countDown();
              return silence;
            });
        Asking asking = new Asking(folder, server, "openai")) {
      AtomicReference<Throwable> thrown = new AtomicReference<>();
      Thread asker =
          Thread.ofVirtual()
              .start(() -> {
                try {
                  var _ = asking.ask("hi");
                } catch (ModelFailure | InterruptedException e) {
                  thrown.set(e);
                }
              });
      arrived.await();
      asker.interrupt();
      asker.join();
      assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
      assertThat(server.requests()).isEqualTo(1);
    }
  }
}

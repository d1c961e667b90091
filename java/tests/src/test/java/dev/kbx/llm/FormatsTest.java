package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ChatRequest.Parameters;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Requests and replies in both formats, streamed and whole, over real HTTP. */
class FormatsTest {
  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({"openai,true", "openai,false", "anthropic,true", "anthropic,false"})
  void replyIsRead(String provider, boolean stream) throws Exception {
    ScriptedReply.Text said =
        ScriptedReply.text("Für dich: 🚀\n```python\npass\n```")
            .thinking("Erst dénken…")
            .usage(new Usage(100L, 50L, 40L, null));
    try (ScriptedProvider server = ScriptedProvider.start(_ -> said);
        Asking asking = new Asking(folder, server, provider, "stream = " + stream)) {
      ChatReply reply = asking.ask("hi");
      assertThat(reply.text()).isEqualTo(said.text());
      assertThat(reply.thinking()).isEqualTo(said.thinking());
      assertThat(reply.finish()).isEqualTo("stop");
      assertThat(reply.usage()).isEqualTo(said.usage());
      assertThat(reply.servedModel()).isEqualTo("m-served");
      assertThat(reply.attempts()).isEqualTo(1);
      assertThat(reply.cached()).isFalse();
      assertThat(server.asked().getFirst().isStream()).isEqualTo(stream);
    }
  }

  @ParameterizedTest
  @CsvSource({"openai,true", "openai,false", "anthropic,true", "anthropic,false"})
  void finishReasonsAreRead(String provider, boolean stream) throws Exception {
    String large = "0123456789abcdef\n".repeat(12_000); // 204 kB
    List<ScriptedReply.Text> said =
        List.of(
            ScriptedReply.text(""),
            ScriptedReply.text(large),
            ScriptedReply.text("I will not").finish("refusal"),
            ScriptedReply.text("half a ker").finish("length"),
            ScriptedReply.text("tokens unknown").usage(null));
    try (ScriptedProvider server = ScriptedProvider.start(asked -> said.get(asked.number() - 1));
        Asking asking = new Asking(folder, server, provider, "stream = " + stream)) {
      for (ScriptedReply.Text expected : said) {
        ChatReply reply = asking.ask("hi");
        assertThat(reply.text()).isEqualTo(expected.text());
        assertThat(reply.thinking()).isNull();
        assertThat(reply.finish()).isEqualTo(expected.finish());
        assertThat(reply.usage()).isEqualTo(expected.usage());
        assertThat(reply.attempts()).isEqualTo(1);
      }
    }
  }

  private static final List<ChatRequest.Message> CONVERSATION =
      List.of(
          new ChatRequest.Message(ChatRequest.Message.Role.SYSTEM, "s"),
          new ChatRequest.Message(ChatRequest.Message.Role.USER, "u1"),
          new ChatRequest.Message(ChatRequest.Message.Role.ASSISTANT, "a"),
          new ChatRequest.Message(ChatRequest.Message.Role.USER, "u2"));

  private static final Parameters ALL = new Parameters(0.5, 0.9, 100, "high", 7L);

  /** What the provider was sent. */
  private ScriptedProvider.Asked sent(String provider, Parameters parameters, String... lines)
      throws Exception {
    try (ScriptedProvider server = ScriptedProvider.start(_ -> ScriptedReply.text("x"));
        Asking asking = new Asking(folder, server, provider, lines)) {
      var _ = asking.model().ask(new ChatRequest("m", parameters, CONVERSATION, 3));
      return server.asked().getFirst();
    }
  }

  private static JsonNode json(String text) {
    return JsonText.parse(text).orElseThrow();
  }

  @Test
  void openAiRequestHasItsForm() throws Exception {
    ScriptedProvider.Asked asked = sent("openai", ALL, "model = \"org/Model\"");
    assertThat(asked.path()).isEqualTo("/v1/chat/completions");
    assertThat(asked.headers()).containsEntry("authorization", "Bearer " + Asking.KEY);
    assertThat(asked.body())
        .isEqualTo(
            json(
                """
                {"model": "org/Model",
                 "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u1"},
                   {"role": "assistant", "content": "a"}, {"role": "user", "content": "u2"}],
                 "max_tokens": 100, "temperature": 0.5, "top_p": 0.9, "reasoning_effort": "high",
                 "seed": 7, "stream": true, "stream_options": {"include_usage": true}}
                """));
  }

  @Test
  void anthropicRequestHasItsForm() throws Exception {
    ScriptedProvider.Asked asked = sent("anthropic", ALL, "model = \"claude\"");
    assertThat(asked.path()).isEqualTo("/v1/messages");
    assertThat(asked.headers())
        .containsEntry("x-api-key", Asking.KEY)
        .containsEntry("anthropic-version", "2023-06-01")
        .doesNotContainKey("authorization");
    assertThat(asked.body())
        .isEqualTo(
            json(
                """
                {"model": "claude", "max_tokens": 100, "system": "s",
                 "messages": [{"role": "user", "content": "u1"},
                   {"role": "assistant", "content": "a"}, {"role": "user", "content": "u2"}],
                 "temperature": 0.5, "top_p": 0.9,
                 "thinking": {"type": "adaptive"}, "output_config": {"effort": "high"},
                 "stream": true}
                """));
  }

  /** What the requests of a run have in common, the provider may keep. */
  @Test
  void anthropicRequestMarksTheCachedPrefix() throws Exception {
    String keep = "{\"type\": \"ephemeral\"}";
    assertThat(lastContent("anthropic", "task: more", 4))
        .isEqualTo(
            json(
                """
                [{"type": "text", "text": "task", "cache_control": %s},
                 {"type": "text", "text": ": more"}]
                """
                    .formatted(keep)));
    assertThat(lastContent("anthropic", "task\n", 4))
        .isEqualTo(
            json("[{\"type\":\"text\",\"text\":\"task\",\"cache_control\":%s}]".formatted(keep)));
    assertThat(lastContent("anthropic", "task: more", 0)).isEqualTo(json("\"task: more\""));
    assertThat(lastContent("anthropic", "task: more", 4, "prompt_cache = false"))
        .isEqualTo(json("\"task: more\""));
    assertThat(lastContent("openai", "task: more", 4)).isEqualTo(json("\"task: more\""));
  }

  private JsonNode lastContent(String provider, String text, int stable, String... lines)
      throws Exception {
    try (ScriptedProvider server = ScriptedProvider.start(_ -> ScriptedReply.text("x"));
        Asking asking = new Asking(folder, server, provider, lines)) {
      List<ChatRequest.Message> messages =
          List.of(new ChatRequest.Message(ChatRequest.Message.Role.USER, text));
      ChatRequest request =
          new ChatRequest("m", Parameters.defaults(), messages, 0, "place", stable);
      assertThat(request.key())
          .isEqualTo(new ChatRequest("m", Parameters.defaults(), messages, 0).key());
      var _ = asking.model().ask(request);
      return server.asked().getFirst().body().path("messages").path(0).path("content");
    }
  }

  @Test
  void unsetParametersAreNotSent() throws Exception {
    JsonNode openai = sent("openai", Parameters.defaults(), "stream = false").body();
    assertThat(openai.propertyNames()).containsExactlyInAnyOrder("model", "messages");
    JsonNode anthropic = sent("anthropic", Parameters.defaults(), "stream = false").body();
    assertThat(anthropic.propertyNames())
        .containsExactlyInAnyOrder("model", "messages", "system", "max_tokens");
  }

  @Test
  void configurationAddsAndRemovesFields() throws Exception {
    JsonNode body =
        sent(
                "openai",
                new Parameters(0.5, 0.9, null, null, 7L),
                "max_tokens = 321",
                "max_tokens_field = \"max_completion_tokens\"",
                "without = [\"temperature\", \"seed\", \"stream_options\"]",
                "extra = { top_k = 20, chat_template_kwargs = { enable_thinking = false } }")
            .body();
    assertThat(body.propertyNames())
        .containsExactlyInAnyOrder(
            "model",
            "messages",
            "top_p",
            "stream",
            "top_k",
            "chat_template_kwargs",
            "max_completion_tokens");
    assertThat(body.path("max_completion_tokens").asInt()).isEqualTo(321);
    assertThat(body.path("chat_template_kwargs").path("enable_thinking").asBoolean(true)).isFalse();
  }

  @Test
  void anthropicThinkingBudgetIsAddedToTheLimit() throws Exception {
    JsonNode body =
        sent("anthropic", new Parameters(null, null, 1000, "low", null), "thinking = \"budget\"")
            .body();
    assertThat(body.path("thinking"))
        .isEqualTo(json("{\"type\":\"enabled\",\"budget_tokens\":4096}"));
    assertThat(body.path("max_tokens").asInt()).isEqualTo(5096);
    assertThat(body.has("output_config")).isFalse();
  }

  @Test
  void anthropicThinkingCanBeSwitchedOff() throws Exception {
    Parameters none = new Parameters(null, null, null, "none", null);
    for (String way : List.of("effort", "budget")) {
      JsonNode body = sent("anthropic", none, "thinking = \"%s\"".formatted(way)).body();
      assertThat(body.path("thinking")).isEqualTo(json("{\"type\":\"disabled\"}"));
      assertThat(body.has("output_config")).isFalse();
    }
  }

  private ChatReply reply(String provider, String body) throws Exception {
    try (ScriptedProvider server = ScriptedProvider.start(_ -> ScriptedReply.body(body));
        Asking asking = new Asking(folder, server, provider)) {
      return asking.ask("hi");
    }
  }

  /** Gemini's count of completion tokens lacks the reasoning, which it charges. */
  @Test
  void tokensCountedOnlyInTheTotalAreOutput() throws Exception {
    ChatReply reply =
        reply(
            "openai",
            """
            {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
             "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115}}
            """);
    assertThat(reply.usage()).isEqualTo(new Usage(10L, 105L, null, null));
    assertThat(reply.servedModel()).isEqualTo("m");
  }

  @Test
  void contentPartsAndRefusalAreRead() throws Exception {
    assertThat(
            reply(
                "openai",
                """
                {"choices": [{"message": {"content": [{"type": "text", "text": "a"},
                  {"type": "text", "text": "b"}], "reasoning": "r"}}]}
                """))
        .extracting(ChatReply::text, ChatReply::thinking, ChatReply::finish)
        .containsExactly("ab", "r", "unknown");
    assertThat(
            reply(
                "openai",
                """
                {"choices": [{"message": {"content": null, "refusal": "No."}, "finish_reason": "stop"}]}
                """))
        .extracting(ChatReply::text, ChatReply::finish)
        .containsExactly("No.", "refusal");
  }

  /** What a cache wrote is part of the input, too. */
  @Test
  void anthropicInputIncludesCacheTokens() throws Exception {
    ChatReply reply =
        reply(
            "anthropic",
            """
            {"type": "message", "model": "c", "content": [{"type": "text", "text": "x"}],
             "stop_reason": "stop_sequence", "usage": {"input_tokens": 10,
               "cache_read_input_tokens": 30, "cache_creation_input_tokens": 60, "output_tokens": 5}}
            """);
    assertThat(reply.usage()).isEqualTo(new Usage(100L, 5L, 30L, null, 60L));
    assertThat(reply.finish()).isEqualTo("stop");
  }

  /** Some gateways refuse by an error. */
  @ParameterizedTest
  @CsvSource({
    "400, content_filter, filtered",
    "400, content_policy_violation, not allowed",
    "403, '', your input was flagged"
  })
  void contentFilterErrorIsARefusal(int status, String code, String message) throws Exception {
    try (ScriptedProvider server =
            ScriptedProvider.start(_ -> ScriptedReply.error(status, code, message));
        Asking asking = new Asking(folder, server, "openai")) {
      ChatReply reply = asking.ask("hi");
      assertThat(reply.finish()).isEqualTo("refusal");
      assertThat(reply.text()).isEqualTo(message);
      assertThat(reply.usage()).isNull();
    }
  }

  @ParameterizedTest
  @CsvSource({"end_turn, stop", "eos_token, stop", "max_tokens, length", "tool_calls, tool_calls"})
  void finishReasonsOfOtherServersAreRead(String word, String finish) throws Exception {
    assertThat(
            reply(
                    "openai",
                    "{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"%s\"}]}"
                        .formatted(word))
                .finish())
        .isEqualTo(finish);
  }

  @Test
  void unstreamedReplyIsRead() throws Exception {
    ChatReply reply =
        reply(
            "openai",
            "{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}");
    assertThat(reply.text()).isEqualTo("x");
    assertThat(reply.usage()).isNull();
  }
}

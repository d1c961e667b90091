package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.error.InputException;
import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ModelGateway.Passed;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/** What passes to a provider with the run's key, and what does not. */
class ModelGatewayTest {
  private static final String KEY = "sk-secret-of-the-test";

  @TempDir private Path folder;

  private ModelCatalog catalog(String provider, String address) throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("models.toml"),
            "[[model]]\nname = \"m\"\nprovider = \"%s\"\nbase_url = \"%s\"\nmodel = \"real\"\nkey_env = \"K\"\n"
                .formatted(provider, address));
    return ModelCatalog.read(file, Map.of("K", KEY), () -> folder);
  }

  private Passed sent(ScriptedProvider provider, String format, String target, String body)
      throws Exception {
    try (ModelGateway gateway = catalog(format, provider.address()).gateway("m")) {
      return gateway.send(
          gateway.route("POST", target).orElseThrow(),
          Map.of("authorization", "Bearer of the program", "x-api-key", "too", "accept", "*/*"),
          body);
    }
  }

  @Test
  void modelAndKeyAreTheRuns() throws Exception {
    try (ScriptedProvider provider =
        ScriptedProvider.start(_ -> ScriptedReply.text("hello " + KEY))) {
      String body =
          "{\"model\":\"dearer\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
      Passed passed = sent(provider, "openai", "/v1/chat/completions", body);
      assertThat(passed.status()).isEqualTo(200);
      assertThat(
              sent(provider, "openai", "/v1/chat/completions", body.replace("true", "false"))
                  .body())
          .contains("hello [key]")
          .doesNotContain(KEY);
      assertThat(passed.usage()).isNotNull();
      ScriptedProvider.Asked asked = provider.asked().getFirst();
      assertThat(asked.model()).isEqualTo("real");
      assertThat(asked.headers()).containsEntry("authorization", "Bearer " + KEY);
      assertThat(asked.headers()).doesNotContainKey("x-api-key");
      assertThat(asked.body().path("stream_options").path("include_usage").asBoolean()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /v1/chat/completions",
        "POST /v1/files",
        "POST /v1/messages",
        "POST http://example.com/v1/chat/completions",
        "POST /v1/chat/completions/../files",
        "POST /v1/chat/completions?url=http://example.com",
        "POST //example.com/v1/chat/completions",
        "CONNECT example.com:443",
        "POST /v1beta/models/x:generateContent"
      })
  void otherRequestsHaveNoRoute(String request) throws Exception {
    try (ModelGateway gateway = catalog("openai", "http://127.0.0.1:9/v1").gateway("m")) {
      assertThat(gateway.route(request.split(" ", -1)[0], request.split(" ", -1)[1])).isEmpty();
    }
  }

  @Test
  void geminisModelIsInThePath() throws Exception {
    try (ModelGateway gateway =
        catalog("gemini", "http://127.0.0.1:9/v1beta/openai").gateway("m")) {
      assertThat(gateway.route("POST", "/v1beta/models/dearer:streamGenerateContent?alt=sse"))
          .isPresent();
      assertThat(gateway.route("POST", "/v1beta/models/a/b:generateContent")).isEmpty();
      assertThat(gateway.route("POST", "/v1beta/cachedContents")).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"tools\":[{\"type\":\"web_search\"},{\"type\":\"function\",\"name\":\"f\"}]} |"
            + " web_search | 1",
        "{\"tools\":[{\"type\":\"mcp\",\"server_url\":\"http://x\"}]} | mcp | 0",
        "{\"tools\":[{\"type\":\"web_fetch_20250910\",\"name\":\"w\"},{\"name\":\"Bash\",\"input_schema\":{}}]}"
            + " | web_fetch_20250910 | 1",
        "{\"tools\":[{\"type\":\"bash_20250124\",\"name\":\"bash\"}],\"mcp_servers\":[]} |"
            + " mcp_servers | 1",
        "{\"tools\":[{\"googleSearch\":{}},{\"functionDeclarations\":[]}]} | googleSearch | 1",
        "{\"web_search_options\":{},\"tools\":[]} | web_search_options | 0",
        "{\"tools\":[{\"type\":\"namespace\",\"tools\":[{\"type\":\"mcp\"}]}]} | mcp | 0",
        "{\"tools\":[{\"type\":\"namespace\",\"tools\":[{\"type\":\"function\"},{\"type\":\"web_search\"}]}]}"
            + " | web_search | 1",
        "{\"tools\":{\"type\":\"web_search\"}} | tools | 0"
      })
  void toolsThatTheProviderRunsAreTakenOut(String body, String removed, int left) {
    var node = (ObjectNode) JsonText.parse(body).orElseThrow();
    assertThat(ProviderTools.remove(node, ProviderTools.CHAT)).containsExactly(removed);
    assertThat(node.path("tools").size()).isEqualTo(left);
  }

  /** Models that stand in, what is kept at the provider, another price or speed. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "openai | /v1/chat/completions | messages tools stream reasoning_effort"
            + " | models n service_tier extra_body plugins web_search_options",
        "openai | /v1/responses | instructions input tools reasoning store include prompt_cache_key"
            + " | prompt background previous_response_id conversation service_tier",
        "anthropic | /v1/messages | messages system max_tokens thinking metadata"
            + " | mcp_servers container speed service_tier",
        "gemini | /v1beta/models/x:generateContent | contents systemInstruction generationConfig"
            + " | cachedContent model"
      })
  void onlyKnownMembersPass(String format, String target, String kept, String removed)
      throws Exception {
    ObjectNode body = JsonText.object();
    for (String member : (kept + " " + removed).split(" ", -1)) body.put(member, 1);
    body.putArray("tools").addObject().put("name", "f").putObject("input_schema");
    try (ScriptedProvider provider = ScriptedProvider.start(_ -> ScriptedReply.text("yes"))) {
      Passed passed = sent(provider, format, target, JsonText.write(body));
      assertThat(passed.refused()).containsExactlyInAnyOrder(removed.split(" ", -1));
      assertThat(provider.asked().getFirst().body().propertyNames())
          .contains(kept.split(" ", -1))
          .doesNotContain(removed.split(" ", -1));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"messages\":[{\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"http://x/y\"}}]}]}",
        "{\"messages\":[{\"content\":[{\"type\":\"document\",\"source\":{\"type\":\"url\",\"url\":\"HTTPS://x\"}}]}]}",
        "{\"input\":[{\"content\":[{\"type\":\"input_file\",\"file_url\":\"https://x\"}]}]}",
        "{\"contents\":[{\"parts\":[{\"fileData\":{\"fileUri\":\"gs://x\"}}]}]}",
        "{\"system_instruction\":{\"parts\":[{\"file_data\":{\"file_uri\":\"gs://x\"}}]}}",
        "{\"input\":[{\"content\":[{\"file_url\":\"https://x/\\n\"}]}]}",
        "{\"input\":[{\"content\":[{\"file_url\":\"ht\\ntps://x/\"}]}]}"
      })
  void addressesAreNotFetched(String body) throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(_ -> ScriptedReply.text("no"))) {
      Passed passed = sent(provider, "openai", "/v1/chat/completions", body);
      assertThat(passed.status()).isEqualTo(403);
      assertThat(passed.refused()).singleElement().asString().startsWith("fetch ");
      assertThat(provider.requests()).isZero();
    }
  }

  @Test
  void textAndCallsThatNameAddressesPass() {
    String body =
        "{\"messages\":[{\"content\":\"see"
            + " http://x\"},{\"content\":[{\"type\":\"tool_use\",\"input\":{\"url\":\"http://x\"}},"
            + "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AA\"}}]}],"
            + "\"tools\":[{\"type\":\"function\",\"function\":{\"parameters\":{\"url\":\"http://x\"}}}]}";
    var node = (ObjectNode) JsonText.parse(body).orElseThrow();
    assertThat(ProviderTools.fetched(node)).isEmpty();
  }

  /** Counts as each provider's documentation names them. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"prompt_tokens_details\":{\"cached_tokens\":4}}}"
            + " | 10 | 5 | 4",
        "{\"usage\":{\"input_tokens\":10,\"output_tokens\":5,\"cache_read_input_tokens\":4,\"cache_creation_input_tokens\":3}}"
            + " | 17 | 5 | 4",
        "`data:"
            + " {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":1,\"cache_read_input_tokens\":2}}}\n\n"
            + "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":9}}\n\n"
            + "` | 12 | 9 | 2",
        "`data:"
            + " {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":8,\"input_tokens_details\":{\"cached_tokens\":6},\"output_tokens\":3}}}\n\n"
            + "` | 8 | 3 | 6",
        "[{\"usageMetadata\":{\"promptTokenCount\":7,\"candidatesTokenCount\":2,\"thoughtsTokenCount\":4,\"cachedContentTokenCount\":5}}]"
            + " | 7 | 6 | 5"
      })
  void tokensAreReadInEachFormat(String body, long input, long output, long cached) {
    Usage usage = GatewayUsage.of(body).orElseThrow();
    assertThat(usage.input()).isEqualTo(input);
    assertThat(usage.output()).isEqualTo(output);
    assertThat(usage.cachedInput()).isEqualTo(cached);
    assertThat(GatewayUsage.of("no reply")).isEmpty();
  }

  @Test
  void redirectsAreNotFollowed() throws Exception {
    try (ScriptedProvider provider =
        ScriptedProvider.start(_ -> ScriptedReply.error(307, "moved", "elsewhere"))) {
      Passed passed = sent(provider, "openai", "/v1/chat/completions", "{\"messages\":[]}");
      assertThat(passed.status()).isEqualTo(502);
      assertThat(provider.requests()).isEqualTo(1);
    }
  }

  @Test
  void onlyProvidersHaveGateways() throws Exception {
    ModelCatalog catalog = catalog("openai", "http://127.0.0.1:9/v1");
    assertThatThrownBy(() -> catalog.gateway("command:cat"))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("needs a model of a provider");
  }
}

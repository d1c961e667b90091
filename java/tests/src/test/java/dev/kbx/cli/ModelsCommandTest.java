package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.llm.ScriptedProvider;
import dev.kbx.llm.ScriptedReply;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx models}. */
class ModelsCommandTest {
  private static final String KEY = "sk-test-0123456789abcdef";

  @TempDir private Path folder;

  private Path configuration(String address) throws Exception {
    Path key = Files.writeString(folder.resolve("key.txt"), KEY);
    Files.setPosixFilePermissions(
        key, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
    return Files.writeString(
        folder.resolve("models.toml"),
        """
        [[model]]
        name = "local"
        provider = "openai"
        base_url = "%s"
        model = "org/Model"
        key_file = "key.txt"
        requests_per_minute = 60
        without = ["seed"]
        price_input = 2
        price_output = 10
        price_as_of = 2026-11-01

        [[model]]
        name = "sonnet"
        provider = "anthropic"
        model = "claude-sonnet-5-5"
        key_env = "NO_SUCH_VARIABLE"
        """
            .formatted(address));
  }

  @Test
  void printsATableOfModels() throws Exception {
    Path file = configuration("http://localhost:8000/v1");
    Kbx.Result result = Kbx.here("models", "--models", file);
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.out())
        .startsWith("Configuration: " + file + "\nmodel ")
        .containsPattern("local +a file +present +16 +60 +– +2.00 +10.00 +2026-11-01\n")
        .contains("\nlocal: org/Model at http://localhost:8000/v1\n")
        .contains("\nopenai:MODEL: at https://api.openai.com/v1\n")
        .contains("\nlocal: key in " + folder.resolve("key.txt") + "\n")
        .containsPattern("sonnet +NO_SUCH_VARIABLE +missing +16 +– +– +2.00 +10.00 +2026-10-24\n")
        .containsPattern("openai:MODEL +OPENAI_API_KEY ")
        .contains("\nlocal: is not sent seed\n")
        .contains("\nsonnet: NO_SUCH_VARIABLE is not set; put the key there: export NO_SUCH_VAR")
        .contains("Prices: USD for a million tokens")
        .doesNotContain(KEY);
    assertThat(result.err()).isEmpty();
    assertThat(result.out().lines().filter(line -> !line.contains(folder.toString())))
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
  }

  @Test
  void printsJson() throws Exception {
    JsonNode models =
        Kbx.here("models", "--json", "--models", configuration("http://localhost:1/v1")).json();
    assertThat(models.size()).isEqualTo(5);
    JsonNode local = models.get(0);
    assertThat(local.path("name").asString()).isEqualTo("local");
    assertThat(local.path("requests_per_minute").asInt()).isEqualTo(60);
    assertThat(local.has("tokens_per_minute")).isFalse();
    assertThat(local.path("key").path("present").asBoolean()).isTrue();
    assertThat(local.path("price").path("as_of").asString()).isEqualTo("2026-11-01");
    assertThat(models.get(1).path("key").path("present").asBoolean(true)).isFalse();
    assertThat(models.toString()).doesNotContain(KEY);
  }

  @Test
  void showsBundledPrices() {
    assertThat(Kbx.here("models", "--prices").out())
        .containsPattern("openai:gpt-5 +1.25 +0.125 +– +10.00 +2026-03-21")
        .contains("Check them");
    JsonNode prices = Kbx.here("models", "--prices", "--json").json();
    assertThat(prices.path("openai:gpt-5").path("output").asDouble()).isEqualTo(10);
  }

  @Test
  void probeShowsTheAnswerOfAModel() throws Exception {
    try (ScriptedProvider server = ScriptedProvider.start(_ -> ScriptedReply.text("yes"))) {
      Path file = configuration(server.address());
      Kbx.Result result = Kbx.here("models", "--models", file, "--check", "local");
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(result.out())
          .matches(
              "local answers: \"yes\" \\(stop\\) in \\d+\\.\\d+ m?s, as org/Model-served;"
                  + " tokens: 10 in, 20 out, 0\\.000220 USD\n");
      assertThat(server.requests()).isEqualTo(1);
      assertThat(server.asked().getFirst().body().path("max_tokens").asInt()).isEqualTo(16);
      JsonNode json = Kbx.here("models", "--models", file, "--check", "local", "--json").json();
      assertThat(json.path("answers").asBoolean()).isTrue();
      assertThat(json.path("reply").path("text").asString()).isEqualTo("yes");
    }
  }

  @Test
  void probeAsksASilentModelOnce() throws Exception {
    ScriptedReply busy = ScriptedReply.error(503, "", "loading " + KEY);
    try (ScriptedProvider server = ScriptedProvider.start(_ -> busy)) {
      Path file = configuration(server.address());
      Kbx.Result result = Kbx.here("models", "--models", file, "--check", "local", "--json");
      assertThat(result.exit()).isEqualTo(2);
      assertThat(result.err())
          .isEqualTo("kbx: local: the provider cannot answer now (503): loading [key]\n");
      assertThat(result.json().path("failure").path("kind").asString()).isEqualTo("overloaded");
      assertThat(result.out()).doesNotContain(KEY);
      assertThat(server.requests()).isEqualTo(1);
    }
  }

  @Test
  void configurationErrorsAreOneLine() throws Exception {
    Path broken = Files.writeString(folder.resolve("broken.toml"), "[[model]]\nnam = 'x'\n");
    Kbx.Result result = Kbx.here("models", "--models", broken);
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err()).isEqualTo("kbx: " + broken + ": [[model]] 1: name is missing\n");
    assertThat(Kbx.here("models", "--models", folder.resolve("gone")).err())
        .isEqualTo("kbx: --models " + folder.resolve("gone") + ": is not a file\n");
    Kbx.Result unknown = Kbx.here("models", "--models", broken, "--check", "x", "--prices");
    assertThat(unknown.exit()).isEqualTo(1);
  }

  @Test
  void namesTheConfigurationFile() throws Exception {
    Path home = Files.createDirectories(folder.resolve("home/.config/kbx"));
    Path here = Files.createDirectory(folder.resolve("here"));
    Map<String, String> environment =
        Map.of("HOME", folder.resolve("home").toString(), "KBX_MODELS", "");
    assertThat(Kbx.run(here, environment, "models").out())
        .startsWith("No configuration: models.toml is neither here nor in ~/.config/kbx.\n");
    Files.writeString(home.resolve("models.toml"), "");
    assertThat(Kbx.run(here, environment, "models").out())
        .startsWith("Configuration: " + home.resolve("models.toml") + "\n");
    Files.writeString(here.resolve("models.toml"), "");
    assertThat(Kbx.run(here, environment, "models").out())
        .startsWith("Configuration: models.toml\n");
    Path named = Files.writeString(folder.resolve("named.toml"), "");
    assertThat(Kbx.run(here, Map.of("KBX_MODELS", named.toString()), "models").out())
        .startsWith("Configuration: " + named + "\n");
    assertThat(Kbx.run(here, Map.of("KBX_MODELS", "gone.toml"), "models").err())
        .isEqualTo("kbx: KBX_MODELS gone.toml: is not a file\n");
  }
}

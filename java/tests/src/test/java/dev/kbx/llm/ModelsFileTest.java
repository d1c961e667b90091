package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.error.InputException;
import dev.kbx.llm.ModelCatalog.Configured;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The configuration of models. */
class ModelsFileTest {
  @TempDir private Path folder;

  private ModelCatalog catalog(String text) throws Exception {
    Path file = Files.writeString(folder.resolve("models.toml"), text);
    return ModelCatalog.read(
        file, Map.of("OPENAI_API_KEY", "sk-0123456789", "HOME", "/home/me"), () -> Path.of(""));
  }

  @Test
  void allKeysAreRead() throws Exception {
    List<Configured> models =
        catalog(
                """
                [[model]]
                name = "qwen"
                provider = "openai"
                base_url = "http://localhost:8000/v1/"
                model = "Qwen/Qwen3-Coder"
                key_file = "~/key"
                parallel = 8
                requests_per_minute = 60
                tokens_per_minute = 100000
                max_tokens = 8192
                timeout_seconds = 30.5
                attempts = 3
                retry_seconds = 0.5
                stream = false
                without = ["top_p", "seed"]
                extra = { top_k = 20 }
                max_tokens_field = "max_tokens"
                price_input = 0
                price_output = 0.5
                price_as_of = 2026-11-01

                [[model]]
                name = "openai:gpt-5"
                provider = "openai"

                [[model]]
                name = "sonnet"
                provider = "anthropic"
                model = "claude-sonnet-5-5"
                thinking = "budget"
                """)
            .list();
    assertThat(models)
        .extracting(Configured::name)
        .containsExactly(
            "qwen", "openai:gpt-5", "sonnet", "openai:MODEL", "anthropic:MODEL", "gemini:MODEL");
    Price price = new Price(0, 0.5, null, LocalDate.of(2026, 11, 1));
    assertThat(models.getFirst())
        .isEqualTo(
            new Configured(
                "qwen",
                "openai",
                "http://localhost:8000/v1",
                "Qwen/Qwen3-Coder",
                new Configured.Key(
                    "/home/me/key",
                    false,
                    "/home/me/key: the key cannot be read; make the file, with mode 600 and the key"
                        + " alone in it"),
                8,
                60,
                100_000,
                8192,
                30.5,
                false,
                List.of("seed", "top_p"),
                price));
    assertThat(models.get(1).model()).isEqualTo("gpt-5");
    assertThat(models.get(1).key()).isEqualTo(new Configured.Key("OPENAI_API_KEY", true, null));
    assertThat(models.get(1).price()).isNotNull();
    assertThat(models.get(2).price()).isNotNull();
    assertThat(models.get(2).key().present()).isFalse();
  }

  @Test
  void byteOrderMarkIsRemoved() throws Exception {
    String text = "\ufeff[[model]]\nname = \"gpt\"\nprovider = \"openai\"\n";
    assertThat(catalog(text).list()).extracting(Configured::name).contains("gpt");
  }

  @Test
  void localServerNeedsNoKeyAndHasNoPrice() throws Exception {
    ModelCatalog catalog =
        catalog(
            """
            [[model]]
            name = "gpt-5"
            provider = "openai"
            base_url = "http://localhost:8000/v1"
            """);
    assertThat(catalog.list().getFirst().key()).isEqualTo(new Configured.Key(null, false, null));
    assertThat(catalog.price("gpt-5")).isEmpty();
    catalog.open("gpt-5").close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "name = 1 | name must be a text in quotes",
        "provider = 'openai' | name is missing",
        "name = 'x' | (x): provider is missing",
        "name = 'replay:x' | name must not begin with replay:",
        "name = 'x'; provider = 'google' | (x): provider must be openai, anthropic or gemini",
        "name = 'x'; provider = 'openai'; key = 'sk-1' | key is not read: keys do not belong here;"
            + " name key_env or key_file",
        "name = 'x'; provider = 'openai'; modle = 'y' | modle is not a key here; known: ",
        "name = 'x'; provider = 'openai'; base_url = 'localhost:8000' | base_url must begin with"
            + " http:// or https:// and name a host",
        "name = 'x'; provider = 'openai'; base_url = 'http://a b' | base_url is not an address:"
            + " http://a b",
        "name = 'x'; provider = 'openai'; base_url = 'https://me:pw@host/v1' | base_url must not"
            + " hold a password or a query",
        "name = 'x'; provider = 'openai'; key_env = 'A'; key_file = 'b' | key_file and key_env:"
            + " name one",
        "name = 'x'; provider = 'openai'; parallel = 0 | parallel must be a whole number, 1 or"
            + " more",
        "name = 'x'; provider = 'openai'; timeout_seconds = 0 | timeout_seconds must be above 0",
        "name = 'x'; provider = 'openai'; timeout_seconds = nan | timeout_seconds must be a number,"
            + " 0 or more",
        "name = 'x'; provider = 'openai'; stream = 'no' | stream must be true or false",
        "name = 'x'; provider = 'openai'; without = 'seed' | without must be a list of texts",
        "name = 'x'; provider = 'openai'; extra = 3 | extra must be a table",
        "name = 'x'; provider = 'anthropic'; thinking = 'hard' | thinking must be effort or budget",
        "name = 'x'; provider = 'openai'; price_input = 1 | price_input, price_output and"
            + " price_as_of belong together: give all three",
        "name = 'x'; provider = 'openai'; price_input = -1 | price_input must be a number, 0 or"
            + " more",
        "name = 'x'; provider = 'openai'; price_as_of = 'May' | price_as_of must be a date:"
            + " 2026-01-31",
        "name = x | models.toml:2: is not TOML: Unknown token",
        "name = 'x'; name = 'y' | is not TOML: Duplicate key",
      })
  void configurationErrorsAreOneLine(String table, String message) {
    assertThatThrownBy(() -> catalog("[[model]]\n" + table.replace("; ", "\n") + "\n"))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith(folder.resolve("models.toml").toString())
        .hasMessageContaining(message)
        .hasMessageNotContainingAny("\n", "sk-1");
  }

  @Test
  void malformedFileIsNamed() throws Exception {
    assertThatThrownBy(() -> catalog("[model]\nname = 'x'\n"))
        .hasMessageContaining("model must be tables: [[model]]");
    assertThatThrownBy(() -> catalog("[[models]]\nname = 'x'\n"))
        .hasMessageContaining("models is not a key here; known: model");
    String one = "[[model]]\nname = 'x'\nprovider = 'openai'\n";
    assertThatThrownBy(() -> catalog(one + one)).hasMessageContaining("two models are named x");
    Path latin =
        Files.write(folder.resolve("latin.toml"), "# für\n".getBytes(StandardCharsets.ISO_8859_1));
    assertThatThrownBy(() -> ModelCatalog.read(latin, Map.of(), () -> Path.of("")))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("cannot be read as text");
    assertThat(catalog("").list()).hasSize(3);
  }

  @Test
  void unknownModelNamesTheKnownModels() throws Exception {
    ModelCatalog catalog = catalog("[[model]]\nname = 'qwen'\nprovider = 'openai'\n");
    for (String name : List.of("qwn", "", "openai:", "mistral:x")) {
      assertThatThrownBy(() -> catalog.open(name))
          .isInstanceOf(InputException.class)
          .hasMessage(
              "%s: no model of this name; %s has qwen; or say openai:MODEL, anthropic:MODEL, gemini:MODEL, replay:LEDGER or command:PROGRAM"
                  .formatted(name, folder.resolve("models.toml")));
    }
  }
}

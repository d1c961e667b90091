package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.kbx.error.InputException;
import dev.kbx.llm.ModelCatalog.Configured;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where keys come from, and that they go nowhere but to their provider. */
class SecretsTest {
  private static final String SECRET = "0123456789abcdef";

  @TempDir private Path folder;

  /** A server that puts the request's headers into all it says. */
  private static ScriptedReply echo(ScriptedProvider.Asked asked) {
    String headers = asked.headers().toString();
    String said = "You sent " + headers;
    return switch (asked.lastMessage()) {
      case "reply" -> ScriptedReply.text(said).thinking(said);
      case "400" -> ScriptedReply.error(400, said, said);
      case "401" -> new ScriptedReply.Raw(401, Map.of(), said);
      case "429" -> ScriptedReply.error(429, "", said, Map.of("Retry-After", "0"));
      case "malformed" -> ScriptedReply.body("no JSON: " + said);
      case "long" -> ScriptedReply.error(500, "", "x".repeat(290) + said);
      case "dropped" -> new ScriptedReply.Dropped(ScriptedReply.text(said));
      default -> ScriptedReply.body(JsonText.write(JsonText.object().put("error", said)));
    };
  }

  private static final List<String> CASES =
      List.of("reply", "400", "401", "429", "malformed", "long", "dropped", "200");

  @Test
  void keysAreRedactedInOutputFilesAndLogs() throws Exception {
    List<String> log = new ArrayList<>();
    Handler handler = collecting(log);
    Logger root = Logger.getLogger("");
    Level level = root.getLevel();
    root.addHandler(handler);
    root.setLevel(Level.ALL);
    StringWriter all = new StringWriter();
    try (ScriptedProvider server = ScriptedProvider.start(SecretsTest::echo)) {
      for (String provider : List.of("openai", "anthropic")) {
        try (Asking asking = new Asking(folder, server, provider)) {
          all.append(asking.catalog().list().toString()).append(asking.model().toString());
          ChatModel cached = asking.catalog().openCached("m", folder.resolve("replies"));
          all.append(cached.toString());
          for (String what : CASES) say(all, cached, what);
          cached.close();
        }
      }
      assertThat(server.asked()).allMatch(a -> a.headers().toString().contains(SECRET));
    } finally {
      root.setLevel(level);
      root.removeHandler(handler);
    }
    assertThat(all.toString()).contains("[key]").doesNotContain(SECRET);
    assertThat(String.join("\n", log)).doesNotContain(SECRET);
    assertThat(files()).isNotEmpty();
    for (Path file : files()) {
      assertThat(Files.readString(file)).as(file.toString()).doesNotContain(SECRET);
    }
  }

  private static void say(StringWriter all, ChatModel model, String what) {
    Throwable thrown =
        catchThrowable(() -> all.append(model.ask(Asking.request(what)).toString()).append('\n'));
    if (thrown != null) thrown.printStackTrace(new PrintWriter(all, true));
  }

  private static Handler collecting(List<String> log) {
    return new Handler() {
      @Override
      public void publish(LogRecord line) {
        log.add(new SimpleFormatter().format(line));
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  @Test
  void keyFileReadableByOthersIsRefused() throws Exception {
    Path key = Files.writeString(folder.resolve("key.txt"), Asking.KEY + "\n");
    Path models =
        Files.writeString(
            folder.resolve("models.toml"),
            "[[model]]\nname = \"m\"\nprovider = \"openai\"\nkey_file = \"key.txt\"\n");
    ModelCatalog catalog = ModelCatalog.read(models, Map.of(), () -> Path.of(""));
    for (String mode : List.of("rw-r--r--", "rw-rw----", "rw----r--", "rw--w----")) {
      Files.setPosixFilePermissions(key, PosixFilePermissions.fromString(mode));
      assertThatThrownBy(() -> catalog.open("m"))
          .isInstanceOf(InputException.class)
          .hasMessage(
              "m: %s: others may use this key (%s); run: chmod 600 %s".formatted(key, mode, key));
      assertThat(catalog.list().getFirst().key().present()).isFalse();
    }
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    assertThat(catalog.list().getFirst().key())
        .isEqualTo(new Configured.Key(key.toString(), true, null));
    catalog.open("m").close();
  }

  @Test
  void missingOrUnusableKeyIsNamedButNotPrinted() throws Exception {
    Path none = folder.resolve("none.toml");
    assertThatThrownBy(
            () -> ModelCatalog.read(none, Map.of(), () -> Path.of("")).open("openai:gpt-5"))
        .isInstanceOf(InputException.class)
        .hasMessage(
            "openai:gpt-5: OPENAI_API_KEY is not set; put the key there: export OPENAI_API_KEY=…");
    for (String broken : List.of("two words " + SECRET, SECRET + "\u00e9", "line\n" + SECRET)) {
      ModelCatalog catalog =
          ModelCatalog.read(none, Map.of("ANTHROPIC_API_KEY", broken), () -> Path.of(""));
      assertThatThrownBy(() -> catalog.open("anthropic:claude"))
          .isInstanceOf(InputException.class)
          .hasMessage(
              "anthropic:claude: ANTHROPIC_API_KEY: holds something else than one key; give the key"
                  + " alone");
    }
  }

  @Test
  void placeholderKeysAreNotRedacted() {
    Secrets secrets = new Secrets();
    secrets.add("EMPTY");
    secrets.add("sk-long-enough");
    secrets.add("sk-long-enough-and-longer");
    assertThat(secrets.redact("EMPTY sk-long-enough sk-long-enough-and-longer"))
        .isEqualTo("EMPTY [key] [key]");
    assertThat(secrets).hasToString("2 keys");
  }
}

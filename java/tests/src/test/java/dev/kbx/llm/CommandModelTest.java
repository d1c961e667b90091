package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ChatRequest.Parameters;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Replies of a program, a real one. */
class CommandModelTest {
  @TempDir private Path folder;
  @TempDir private Path temporary;

  private ChatModel open(String script, String arguments) throws Exception {
    Path file = Files.writeString(folder.resolve("my model.sh"), script);
    Map<String, String> environment = Map.of("OPENAI_API_KEY", Asking.KEY);
    return ModelCatalog.read(folder.resolve("none.toml"), environment, () -> temporary)
        .open("command:sh '%s' %s".formatted(file, arguments));
  }

  private static ModelFailure failure(ChatModel model) {
    return catchThrowableOfType(ModelFailure.class, () -> model.ask(Asking.request("hi")));
  }

  @Test
  void plainTextIsTheReply() throws Exception {
    try (ChatModel model = open("echo \"$1, $2\"", "\"a b\" c")) {
      ChatReply reply = model.ask(Asking.request("hi"));
      assertThat(reply.text()).isEqualTo("a b, c\n");
      assertThat(reply.finish()).isEqualTo("stop");
      assertThat(reply.usage()).isNull();
      assertThat(reply.servedModel()).isEqualTo(model.name());
    }
    try (ChatModel model = open("exit 0", "")) {
      assertThat(model.ask(Asking.request("hi")).text()).isEmpty();
    }
  }

  @Test
  void jsonHasTextAndUsage() throws Exception {
    String json =
        "{\"text\":\"x\",\"thinking\":\"t\",\"finish\":\"refusal\",\"model\":\"own\",\"usage\":{\"input\":3,\"output\":4}}";
    try (ChatModel model = open("echo '" + json + "'", "")) {
      assertThat(model.ask(Asking.request("hi")))
          .extracting(
              ChatReply::text,
              ChatReply::thinking,
              ChatReply::finish,
              ChatReply::servedModel,
              ChatReply::usage)
          .containsExactly("x", "t", "refusal", "own", new Usage(3L, 4L, null, null));
    }
  }

  @Test
  void requestIsOnStandardInput() throws Exception {
    ChatRequest request = Asking.request("größe", new Parameters(0.5, null, 9, null, null));
    try (ChatModel model = open("cat", "")) {
      JsonNode given = JsonText.parse(model.ask(request).text()).orElseThrow();
      assertThat(given.path("key").asString()).isEqualTo(request.key());
      assertThat(given.path("model").asString()).isEqualTo("m");
      assertThat(given.path("sample").asInt(-1)).isZero();
      assertThat(given.path("parameters").path("max_tokens").asInt()).isEqualTo(9);
      assertThat(given.path("messages").path(0).path("role").asString()).isEqualTo("user");
      assertThat(given.path("messages").path(0).path("text").asString()).isEqualTo("größe");
    }
  }

  @Test
  void failingProgramIsAModelFailure() throws Exception {
    try (ChatModel model = open("echo first >&2; echo \"bad $OPENAI_API_KEY\" >&2; exit 3", "")) {
      ModelFailure failure = failure(model);
      assertThat(failure.kind()).isEqualTo(ModelFailure.Kind.NO_ANSWER);
      assertThat(failure).hasMessageEndingWith(" ended with 3: bad");
    }
    ModelCatalog catalog =
        ModelCatalog.read(folder.resolve("none.toml"), Map.of(), () -> temporary);
    try (ChatModel model = catalog.open("command:./no-such-program")) {
      ModelFailure failure = failure(model);
      assertThat(failure.kind()).isEqualTo(ModelFailure.Kind.UNKNOWN_MODEL);
      assertThat(failure).hasMessageContaining("command:./no-such-program cannot be run");
    }
  }

  @Test
  void printedKeyIsRedacted() throws Exception {
    String leak = "echo key " + Asking.KEY + "; echo key " + Asking.KEY + " >&2; exit $1";
    try (ChatModel model = open(leak, "0")) {
      assertThat(model.ask(Asking.request("hi")).text()).isEqualTo("key [key]\n");
    }
    try (ChatModel model = open(leak, "1")) {
      assertThat(failure(model)).hasMessageEndingWith("ended with 1: key [key]");
    }
  }

  @Test
  void hangingProgramIsKilled() {
    List<String> endless = List.of("sh", "-c", "sleep 600 & sleep 600");
    ChatModel model =
        new CommandModel(
            "command:x", endless, Duration.ofMillis(50), new Secrets(), () -> temporary);
    ModelFailure failure = failure(model);
    assertThat(failure.kind()).isEqualTo(ModelFailure.Kind.SILENT);
    assertThat(failure.seconds()).isBetween(0.05, 30.0);
  }

  @Test
  void temporaryFilesAreInTheGivenFolder() throws Exception {
    try (ChatModel model = open("ls \"$1\"", temporary.toString())) {
      assertThat(model.ask(Asking.request("hi")).text().lines())
          .hasSize(3)
          .allMatch(file -> file.matches("model-\\d+\\.(in|out|err)"));
    }
    assertThat(temporary).isEmptyDirectory();
  }

  @Test
  void unusableTemporaryFolderIsNotAModelFailure() throws Exception {
    try (ChatModel model = open("echo hi", "")) {
      Files.delete(temporary);
      assertThatThrownBy(() -> model.ask(Asking.request("hi")))
          .isInstanceOf(UncheckedIOException.class);
    }
  }

  @Test
  void commandIsSplitIntoWords() {
    assertThat(CommandModel.words("command:", "  a  'b c' \"d 'e'\" f'g h'i ''"))
        .containsExactly("a", "b c", "d 'e'", "fg hi", "");
    assertThatThrownBy(() -> CommandModel.words("command:", "a 'b"))
        .hasMessageContaining("a quote has no end");
    assertThatThrownBy(() -> CommandModel.words("command:", " "))
        .hasMessageContaining("names no program");
  }
}

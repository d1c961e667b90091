package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kbx.error.InputException;
import dev.kbx.llm.ChatReply.Usage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/** Replies from a ledger. */
class ReplayModelTest {
  @TempDir private Path folder;

  private static String line(ChatRequest request, String text) {
    ObjectNode event = JsonText.object().put("event", "reply").put("key", request.key());
    event.put("text", text).put("finish", "length").put("seconds", 1.5).put("model", "served");
    event.putObject("usage").put("input", 3).put("output", 4);
    return JsonText.write(event) + "\n";
  }

  private ChatModel open(String ledger) throws Exception {
    Path file = Files.writeString(folder.resolve("ledger.jsonl"), ledger);
    return ModelCatalog.read(folder.resolve("none.toml"), Map.of(), () -> Path.of(""))
        .open("replay:" + file);
  }

  @Test
  void recordedReplyIsReturned() throws Exception {
    ChatRequest one = Asking.request("größe");
    ChatRequest two = Asking.request("two");
    String ledger =
        "{\"event\":\"sent\",\"key\":\"%s\"}\n\n".formatted(one.key())
            + line(one, "1: „gelu“")
            + line(one, "again")
            + line(two, "2")
            + "{\"event\":\"reply\",\"key\":\"cut o";
    try (ChatModel model = open(ledger)) {
      assertThat(model.ask(two).text()).isEqualTo("2");
      assertThat(model.ask(one))
          .isEqualTo(
              new ChatReply(
                  "1: „gelu“",
                  null,
                  "length",
                  new Usage(3L, 4L, null, null),
                  1.5,
                  "served",
                  1,
                  0,
                  false));
    }
  }

  /** The name that a replay is started with is not the recorded model's. */
  @Test
  void recordedModelIsFoundUnderTheReplayName() throws Exception {
    ChatRequest recorded = Asking.request("hi").to("openai:gpt-5");
    String event =
        line(recorded, "yes").replace("\"model\"", "\"asked\":\"openai:gpt-5\",\"model\"");
    try (ChatModel model = open(event)) {
      assertThat(model.ask(recorded.to(model.name())).text()).isEqualTo("yes");
    }
    try (ChatModel model = open(line(recorded.to("served"), "yes"))) {
      assertThat(model.ask(recorded.to(model.name())).text()).isEqualTo("yes");
    }
  }

  private static String at(String method, String ask, ChatRequest request, String text) {
    String place =
        "{\"method\":\"%s\",\"task\":\"A/b\",\"sample\":0,\"ask\":\"%s\",".formatted(method, ask);
    return line(request, text).replaceFirst("\\{", place);
  }

  private static ChatRequest placed(String text, String method, String ask) {
    ChatRequest request = Asking.request(text);
    return new ChatRequest(
        request.model(),
        request.parameters(),
        request.messages(),
        request.sample(),
        ChatRequest.place(method, "A/b", 0, ask),
        0);
  }

  @Test
  void replyIsChosenByRequestAndPlaceThenByPlace() throws Exception {
    ChatRequest first = Asking.request("first");
    String ledger =
        at("sample", "reply", first, "of sample")
            + at("refine", "turn-0", first, "of refine")
            + at("refine", "turn-1", Asking.request("with times"), "next");
    try (ChatModel model = open(ledger)) {
      assertThat(model.ask(placed("first", "refine", "turn-0")).text()).isEqualTo("of refine");
      assertThat(model.ask(placed("first", "sample", "reply")).text()).isEqualTo("of sample");
      assertThat(model.ask(placed("first", "other", "reply")).text()).isEqualTo("of sample");
      assertThat(model.ask(placed("no times", "refine", "turn-1")).text()).isEqualTo("next");
    }
  }

  @Test
  void missingReplyIsNamed() throws Exception {
    ChatRequest missing = Asking.request("missing");
    try (ChatModel model = open(line(Asking.request("hi"), "x"))) {
      ModelFailure failure = catchThrowableOfType(ModelFailure.class, () -> model.ask(missing));
      assertThat(failure.kind()).isEqualTo(ModelFailure.Kind.NO_ANSWER);
      assertThat(failure.fatal()).isFalse();
      assertThat(failure)
          .hasMessage(
              "replay:%s: none of its 1 replies is to this request (key %s, model m, sample 0, 1 messages); task, prompt or parameters are not those of the recorded run"
                  .formatted(folder.resolve("ledger.jsonl"), missing.key()));
    }
  }

  @Test
  void unusableLedgerIsNamed() throws Exception {
    assertThatThrownBy(() -> open("{}\nno JSON\n{}\n"))
        .isInstanceOf(InputException.class)
        .hasMessage(folder.resolve("ledger.jsonl") + ":2: is no JSON");
    ModelCatalog catalog =
        ModelCatalog.read(folder.resolve("none.toml"), Map.of(), () -> Path.of(""));
    assertThatThrownBy(() -> catalog.open("replay:" + folder.resolve("gone.jsonl")))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("gone.jsonl: this ledger cannot be read");
  }
}

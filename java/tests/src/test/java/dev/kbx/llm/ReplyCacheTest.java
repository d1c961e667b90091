package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.error.InputException;
import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ChatRequest.Parameters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replies that are kept. */
class ReplyCacheTest {
  @TempDir private Path folder;

  private static ChatRequest sample(String text, int sample) {
    ChatRequest request = Asking.request(text, new Parameters(1.0, null, null, null, null));
    return new ChatRequest("m", request.parameters(), request.messages(), sample);
  }

  private static ScriptedReply numbered(ScriptedProvider.Asked asked) {
    return ScriptedReply.text("reply " + asked.number())
        .thinking("\ud83d\ude80 thought")
        .usage(new Usage(5L, 6L, 1L, null));
  }

  @Test
  void equalRequestIsSentOnce() throws Exception {
    try (ScriptedProvider server = ScriptedProvider.start(ReplyCacheTest::numbered);
        Asking asking = new Asking(folder, server, "openai");
        ChatModel model = asking.catalog().openCached("m", folder.resolve("replies"))) {
      ChatReply first = model.ask(sample("hi", 0));
      assertThat(first.cached()).isFalse();
      assertThat(model.ask(sample("hi", 0))).isEqualTo(first.asCached());
      assertThat(model.ask(sample("hi", 1)).text()).isEqualTo("reply 2");
      assertThat(model.ask(sample("ho", 0)).text()).isEqualTo("reply 3");
      assertThat(server.requests()).isEqualTo(3);
    }
  }

  /** The name stays, the model behind it does not. */
  @Test
  void changedSettingsMissTheCache() throws Exception {
    Path replies = folder.resolve("replies");
    try (ScriptedProvider server = ScriptedProvider.start(ReplyCacheTest::numbered)) {
      for (String line :
          List.of("", "model = \"other\"", "extra = { top_k = 2 }", "parallel = 2")) {
        try (Asking asking = new Asking(folder, server, "openai", line);
            ChatModel model = asking.catalog().openCached("m", replies)) {
          boolean cached = model.ask(sample("hi", 0)).cached();
          assertThat(cached).as(line).isEqualTo(line.startsWith("parallel"));
        }
      }
    }
  }

  @Test
  void unreadableReplyIsAskedForAgain() throws Exception {
    Path replies = folder.resolve("replies");
    try (ScriptedProvider server = ScriptedProvider.start(ReplyCacheTest::numbered);
        Asking asking = new Asking(folder, server, "openai");
        ChatModel model = asking.catalog().openCached("m", replies)) {
      var _ = model.ask(sample("hi", 0));
      List<Path> files;
      try (Stream<Path> all = Files.walk(replies)) {
        files = all.filter(Files::isRegularFile).toList();
      }
      assertThat(files).hasSize(1); // No draft is left.
      Files.writeString(files.getFirst(), "{\"text\": \"hal");
      assertThat(model.ask(sample("hi", 0)).text()).isEqualTo("reply 2");
      assertThat(model.ask(sample("hi", 0)).text()).isEqualTo("reply 2");
      assertThat(server.requests()).isEqualTo(2);
    }
  }

  @Test
  void failuresAreNotCached() throws Exception {
    try (ScriptedProvider server =
            ScriptedProvider.start(asked ->
                asked.number() == 1
                    ? ScriptedReply.error(400, "", "no")
                    : ScriptedReply.text("yes"));
        Asking asking = new Asking(folder, server, "openai");
        ChatModel model = asking.catalog().openCached("m", folder.resolve("replies"))) {
      assertThatThrownBy(() -> model.ask(sample("hi", 0))).isInstanceOf(ModelFailure.class);
      assertThat(model.ask(sample("hi", 0)).text()).isEqualTo("yes");
    }
  }

  @Test
  void unusableCacheFolderIsNamed() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "");
    try (ScriptedProvider server = ScriptedProvider.start(ReplyCacheTest::numbered);
        Asking asking = new Asking(folder, server, "openai")) {
      assertThatThrownBy(() -> asking.catalog().openCached("m", file))
          .isInstanceOf(InputException.class)
          .hasMessageStartingWith(file + ": replies cannot be kept here");
      assertThat(server.requests()).isZero();
    }
  }

  /** It is paid for. */
  @Test
  void uncachedReplyIsReturned() throws Exception {
    Path replies = folder.resolve("replies");
    try (ScriptedProvider server = ScriptedProvider.start(ReplyCacheTest::numbered);
        Asking asking = new Asking(folder, server, "openai");
        ChatModel model = asking.catalog().openCached("m", replies)) {
      Files.delete(replies);
      Files.writeString(replies, "");
      assertThat(model.ask(sample("hi", 0)).text()).isEqualTo("reply 1");
      assertThat(model.ask(sample("hi", 0)).text()).isEqualTo("reply 2");
    }
  }
}

package dev.kbx.llm;

import dev.kbx.llm.ChatRequest.Parameters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A model of a scripted provider, opened from a configuration, with a clock that does not wait. */
final class Asking implements AutoCloseable {
  static final String KEY = "sk-test-0123456789abcdef";

  private final FakeTime time = new FakeTime();
  private final ModelCatalog catalog;
  private @Nullable ChatModel model;

  /**
   * @param provider {@code openai} or {@code anthropic}
   * @param lines more lines of the table
   */
  Asking(Path folder, ScriptedProvider server, String provider, String... lines)
      throws IOException {
    this(
        Files.writeString(
            folder.resolve("models.toml"),
            """
            [[model]]
            name = "m"
            provider = "%s"
            base_url = "%s"
            key_env = "TEST_KEY"
            """
                    .formatted(provider, server.address())
                + String.join("\n", lines)
                + "\n"));
  }

  Asking(Path configuration) {
    this(configuration, Map.of());
  }

  /**
   * @param more variables of the environment
   */
  Asking(Path configuration, Map<String, String> more) {
    Map<String, String> environment = new HashMap<>(more);
    environment.put("TEST_KEY", KEY);
    catalog = ModelCatalog.read(configuration, environment, () -> Path.of(""), time, () -> 0);
  }

  ModelCatalog catalog() {
    return catalog;
  }

  FakeTime time() {
    return time;
  }

  ChatModel model() {
    if (model == null) model = catalog.open("m");
    return model;
  }

  ChatReply ask(String text) throws ModelFailure, InterruptedException {
    return model().ask(request(text));
  }

  static ChatRequest request(String text) {
    return request(text, Parameters.defaults());
  }

  static ChatRequest request(String text, Parameters parameters) {
    return new ChatRequest(
        "m", parameters, List.of(new ChatRequest.Message(ChatRequest.Message.Role.USER, text)), 0);
  }

  @Override
  public void close() {
    if (model != null) model.close();
  }
}

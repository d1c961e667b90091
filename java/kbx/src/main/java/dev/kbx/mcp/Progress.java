package dev.kbx.mcp;

import dev.kbx.verdict.Json;
import io.modelcontextprotocol.spec.McpSchema;
import java.util.function.Consumer;
import tools.jackson.databind.node.ObjectNode;

/** Tells a client every second that a call goes on, until it is closed. */
interface Progress extends AutoCloseable {
  /** Of a client that has not asked for it. */
  Progress UNTOLD = () -> {};

  /**
   * Begins to tell.
   *
   * @param token that the client knows the call by
   */
  static Progress of(String tool, Object token, Consumer<String> notify) {
    Thread thread =
        Thread.startVirtualThread(() -> {
          try {
            for (int seconds = 1; ; seconds++) {
              Thread.sleep(1_000);
              notify.accept(message(tool, token, seconds));
            }
          } catch (InterruptedException e) {
            // The call is over.
          }
        });
    return thread::interrupt;
  }

  private static String message(String tool, Object token, int seconds) {
    ObjectNode message = Json.mapper().createObjectNode().put("jsonrpc", "2.0");
    message
        .put("method", McpSchema.METHOD_NOTIFICATION_PROGRESS)
        .putObject("params")
        .putPOJO("progressToken", token)
        .put("progress", seconds)
        .put("message", "%s: %d s".formatted(tool, seconds));
    return Json.mapper().writeValueAsString(message);
  }

  @Override
  void close();
}

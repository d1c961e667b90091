package dev.kbx.llm;

import static java.util.Objects.requireNonNullElse;

import dev.kbx.llm.ChatReply.Usage;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** Replies as Anthropic writes them. */
final class ScriptedAnthropic {
  private ScriptedAnthropic() {}

  private static String finish(String finish) {
    return switch (finish) {
      case "stop" -> "end_turn";
      case "length" -> "max_tokens";
      default -> finish;
    };
  }

  static ObjectNode whole(String model, ScriptedReply.Text text) {
    ObjectNode message = start(model);
    var content = message.withArray("content");
    if (text.thinking() != null) {
      content.addObject().put("type", "thinking").put("thinking", text.thinking());
    }
    content.addObject().put("type", "text").put("text", text.text());
    message.put("stop_reason", finish(text.finish()));
    if (text.usage() != null) {
      ObjectNode usage = message.putObject("usage");
      input(usage, text.usage());
      usage.put("output_tokens", text.usage().output());
    }
    return message;
  }

  private static ObjectNode start(String model) {
    ObjectNode message = JsonText.object();
    message.put("id", "msg_1").put("type", "message").put("role", "assistant");
    message.put("model", model + "-served").putArray("content");
    return message.putNull("stop_reason");
  }

  /** Cached tokens are not part of the others. */
  private static void input(ObjectNode counts, Usage usage) {
    long cached = requireNonNullElse(usage.cachedInput(), 0L);
    counts.put("input_tokens", requireNonNullElse(usage.input(), 0L) - cached);
    if (usage.cachedInput() != null) counts.put("cache_read_input_tokens", cached);
  }

  static List<String> events(String model, ScriptedReply.Text text) {
    List<String> events = new ArrayList<>();
    ObjectNode start = JsonText.object().put("type", "message_start");
    ObjectNode message = start(model);
    if (text.usage() != null) {
      ObjectNode usage = message.putObject("usage");
      input(usage, text.usage());
      usage.put("output_tokens", 1);
    }
    start.set("message", message);
    events.add(named(start));
    events.add(named(JsonText.object().put("type", "ping")));
    if (text.thinking() != null) block(events, 0, "thinking", text.thinking());
    block(events, text.thinking() == null ? 0 : 1, "text", text.text());
    ObjectNode delta = JsonText.object().put("type", "message_delta");
    delta.putObject("delta").put("stop_reason", finish(text.finish()));
    if (text.usage() != null) {
      delta.putObject("usage").put("output_tokens", text.usage().output());
    }
    events.add(named(delta));
    events.add(named(JsonText.object().put("type", "message_stop")));
    return events;
  }

  private static void block(List<String> events, int index, String kind, String text) {
    ObjectNode start = JsonText.object().put("type", "content_block_start").put("index", index);
    start.putObject("content_block").put("type", kind).put(kind, "");
    events.add(named(start));
    for (String piece : ScriptedFormat.pieces(text)) {
      ObjectNode delta = JsonText.object().put("type", "content_block_delta").put("index", index);
      delta.putObject("delta").put("type", kind + "_delta").put(kind, piece);
      events.add(named(delta));
    }
    events.add(named(JsonText.object().put("type", "content_block_stop").put("index", index)));
  }

  private static String named(ObjectNode data) {
    return "event: " + data.path("type").asString() + "\n" + ScriptedFormat.event(data);
  }
}

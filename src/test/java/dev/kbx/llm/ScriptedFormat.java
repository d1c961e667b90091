package dev.kbx.llm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.node.ObjectNode;

/**
 * Replies as OpenAI and Anthropic write them, by their published formats: the bytes of a whole HTTP
 * answer.
 */
final class ScriptedFormat {
  private static final int PIECES = 4;

  private ScriptedFormat() {}

  static byte[] of(ScriptedProvider.Asked request, ScriptedReply.Text text) {
    if (request.isStream()) {
      return stream(
          request.isAnthropic()
              ? anthropicEvents(request.model(), text)
              : openAiEvents(request.model(), text));
    }
    ObjectNode document =
        request.isAnthropic() ? anthropic(request.model(), text) : openAi(request.model(), text);
    return answer(200, Map.of("Content-Type", "application/json"), JsonText.write(document));
  }

  static byte[] answer(int status, Map<String, String> headers, String body) {
    byte[] bytes = body.getBytes(UTF_8);
    Map<String, String> all = new TreeMap<>(headers);
    all.put("Content-Length", String.valueOf(bytes.length));
    StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " Scripted\r\n");
    all.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    return (head + "\r\n" + body).getBytes(UTF_8);
  }

  /** Chunks of a size that divides events and characters. */
  private static byte[] stream(List<String> events) {
    byte[] body = String.join("", events).getBytes(UTF_8);
    var out = new java.io.ByteArrayOutputStream();
    out.writeBytes(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
            .getBytes(UTF_8));
    int size = Math.max(7, body.length / 31);
    for (int at = 0; at < body.length; at += size) {
      int length = Math.min(size, body.length - at);
      out.writeBytes((Integer.toHexString(length) + "\r\n").getBytes(UTF_8));
      out.write(body, at, length);
      out.writeBytes("\r\n".getBytes(UTF_8));
    }
    out.writeBytes("0\r\n\r\n".getBytes(UTF_8));
    return out.toByteArray();
  }

  private static List<String> pieces(String text) {
    List<String> pieces = new ArrayList<>();
    int size = Math.max(1, text.length() / PIECES);
    for (int at = 0; at < text.length(); ) {
      int end = Math.min(text.length(), at + size);
      if (end < text.length() && Character.isLowSurrogate(text.charAt(end))) end++;
      pieces.add(text.substring(at, end));
      at = end;
    }
    return pieces;
  }

  private static String event(ObjectNode data) {
    return "data: " + JsonText.write(data) + "\n\n";
  }

  // OpenAI

  private static String openAiFinish(String finish) {
    return finish.equals("refusal") ? "content_filter" : finish;
  }

  private static ObjectNode openAi(String model, ScriptedReply.Text text) {
    ObjectNode document = openAiChunk(model, "chat.completion");
    ObjectNode choice = document.withArray("choices").addObject().put("index", 0);
    ObjectNode message = choice.putObject("message").put("role", "assistant");
    message.put("content", text.text());
    if (text.thinking() != null) message.put("reasoning_content", text.thinking());
    choice.put("finish_reason", openAiFinish(text.finish()));
    if (text.usage() != null) openAiUsage(document, text.usage());
    return document;
  }

  private static ObjectNode openAiChunk(String model, String object) {
    ObjectNode chunk = JsonText.object();
    return chunk.put("id", "chatcmpl-1").put("object", object).put("model", model + "-served");
  }

  private static List<String> openAiEvents(String model, ScriptedReply.Text text) {
    List<String> events = new ArrayList<>();
    events.add(": keeps the connection\n\n");
    events.add(openAiDelta(model, "role", "assistant"));
    if (text.thinking() != null) {
      for (String p : pieces(text.thinking()))
        events.add(openAiDelta(model, "reasoning_content", p));
    }
    for (String piece : pieces(text.text())) events.add(openAiDelta(model, "content", piece));
    ObjectNode last = openAiChunk(model, "chat.completion.chunk");
    ObjectNode choice = last.withArray("choices").addObject().put("index", 0);
    choice.putObject("delta");
    choice.put("finish_reason", openAiFinish(text.finish()));
    events.add(event(last));
    if (text.usage() != null) {
      ObjectNode usage = openAiChunk(model, "chat.completion.chunk");
      usage.putArray("choices");
      openAiUsage(usage, text.usage());
      events.add(event(usage));
    }
    events.add("data: [DONE]\n\n");
    return events;
  }

  private static String openAiDelta(String model, String member, String piece) {
    ObjectNode chunk = openAiChunk(model, "chat.completion.chunk");
    ObjectNode choice = chunk.withArray("choices").addObject().put("index", 0);
    choice.putObject("delta").put(member, piece);
    choice.putNull("finish_reason");
    return event(chunk);
  }

  private static void openAiUsage(ObjectNode document, Usage usage) {
    long input = requireNonNullElse(usage.input(), 0L);
    long output = requireNonNullElse(usage.output(), 0L);
    ObjectNode counts = document.putObject("usage");
    counts.put("prompt_tokens", input).put("completion_tokens", output);
    counts.put("total_tokens", input + output);
    if (usage.cachedInput() != null) {
      counts.putObject("prompt_tokens_details").put("cached_tokens", usage.cachedInput());
    }
    if (usage.reasoning() != null) {
      counts.putObject("completion_tokens_details").put("reasoning_tokens", usage.reasoning());
    }
  }

  // Anthropic

  private static String anthropicFinish(String finish) {
    return switch (finish) {
      case "stop" -> "end_turn";
      case "length" -> "max_tokens";
      default -> finish;
    };
  }

  private static ObjectNode anthropic(String model, ScriptedReply.Text text) {
    ObjectNode message = anthropicMessage(model);
    var content = message.withArray("content");
    if (text.thinking() != null) {
      content.addObject().put("type", "thinking").put("thinking", text.thinking());
    }
    content.addObject().put("type", "text").put("text", text.text());
    message.put("stop_reason", anthropicFinish(text.finish()));
    if (text.usage() != null) {
      ObjectNode usage = message.putObject("usage");
      anthropicInput(usage, text.usage());
      usage.put("output_tokens", text.usage().output());
    }
    return message;
  }

  private static ObjectNode anthropicMessage(String model) {
    ObjectNode message = JsonText.object();
    message.put("id", "msg_1").put("type", "message").put("role", "assistant");
    message.put("model", model + "-served").putArray("content");
    return message.putNull("stop_reason");
  }

  /** Cached tokens are not part of the others. */
  private static void anthropicInput(ObjectNode counts, Usage usage) {
    long cached = requireNonNullElse(usage.cachedInput(), 0L);
    counts.put("input_tokens", requireNonNullElse(usage.input(), 0L) - cached);
    if (usage.cachedInput() != null) counts.put("cache_read_input_tokens", cached);
  }

  private static List<String> anthropicEvents(String model, ScriptedReply.Text text) {
    List<String> events = new ArrayList<>();
    ObjectNode start = JsonText.object().put("type", "message_start");
    ObjectNode message = anthropicMessage(model);
    if (text.usage() != null) {
      ObjectNode usage = message.putObject("usage");
      anthropicInput(usage, text.usage());
      usage.put("output_tokens", 1);
    }
    start.set("message", message);
    events.add(named(start));
    events.add(named(JsonText.object().put("type", "ping")));
    if (text.thinking() != null) block(events, 0, "thinking", text.thinking());
    block(events, text.thinking() == null ? 0 : 1, "text", text.text());
    ObjectNode delta = JsonText.object().put("type", "message_delta");
    delta.putObject("delta").put("stop_reason", anthropicFinish(text.finish()));
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
    for (String piece : pieces(text)) {
      ObjectNode delta = JsonText.object().put("type", "content_block_delta").put("index", index);
      delta.putObject("delta").put("type", kind + "_delta").put(kind, piece);
      events.add(named(delta));
    }
    events.add(named(JsonText.object().put("type", "content_block_stop").put("index", index)));
  }

  private static String named(ObjectNode data) {
    return "event: " + data.path("type").asString() + "\n" + event(data);
  }
}

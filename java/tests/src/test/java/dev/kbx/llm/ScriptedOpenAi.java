package dev.kbx.llm;

import static java.util.Objects.requireNonNullElse;

import dev.kbx.llm.ChatReply.Usage;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** Replies as OpenAI writes them. */
final class ScriptedOpenAi {
  private ScriptedOpenAi() {}

  private static String finish(String finish) {
    return finish.equals("refusal") ? "content_filter" : finish;
  }

  static ObjectNode whole(String model, ScriptedReply.Text text) {
    ObjectNode document = chunk(model, "chat.completion");
    ObjectNode choice = document.withArray("choices").addObject().put("index", 0);
    ObjectNode message = choice.putObject("message").put("role", "assistant");
    message.put("content", text.text());
    if (text.thinking() != null) message.put("reasoning_content", text.thinking());
    choice.put("finish_reason", finish(text.finish()));
    if (text.usage() != null) usage(document, text.usage());
    return document;
  }

  private static ObjectNode chunk(String model, String object) {
    ObjectNode chunk = JsonText.object();
    return chunk.put("id", "chatcmpl-1").put("object", object).put("model", model + "-served");
  }

  static List<String> events(String model, ScriptedReply.Text text) {
    List<String> events = new ArrayList<>();
    events.add(": keeps the connection\n\n");
    events.add(delta(model, "role", "assistant"));
    if (text.thinking() != null) {
      for (String p : ScriptedFormat.pieces(text.thinking()))
        events.add(delta(model, "reasoning_content", p));
    }
    for (String piece : ScriptedFormat.pieces(text.text()))
      events.add(delta(model, "content", piece));
    ObjectNode last = chunk(model, "chat.completion.chunk");
    ObjectNode choice = last.withArray("choices").addObject().put("index", 0);
    choice.putObject("delta");
    choice.put("finish_reason", finish(text.finish()));
    events.add(ScriptedFormat.event(last));
    if (text.usage() != null) {
      ObjectNode usage = chunk(model, "chat.completion.chunk");
      usage.putArray("choices");
      usage(usage, text.usage());
      events.add(ScriptedFormat.event(usage));
    }
    events.add("data: [DONE]\n\n");
    return events;
  }

  private static String delta(String model, String member, String piece) {
    ObjectNode chunk = chunk(model, "chat.completion.chunk");
    ObjectNode choice = chunk.withArray("choices").addObject().put("index", 0);
    choice.putObject("delta").put(member, piece);
    choice.putNull("finish_reason");
    return ScriptedFormat.event(chunk);
  }

  private static void usage(ObjectNode document, Usage usage) {
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
}

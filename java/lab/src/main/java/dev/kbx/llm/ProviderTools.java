package dev.kbx.llm;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a provider would do for a program beyond answering: search the web, fetch addresses, run
 * code, ask another model, go on with what another request left. That is a network by another way.
 * Tools that the program runs itself stay, and the members of a request that this class knows.
 */
final class ProviderTools {
  /** Types of tools that run where the program is; those without a type do, too. */
  private static final Pattern OWN =
      Pattern.compile(
          "function|custom|local_shell|apply_patch|(bash|text_editor|computer|memory)_\\d+");

  /** Members of a Gemini tool that name functions of the program. */
  private static final Set<String> DECLARATIONS =
      Set.of("functionDeclarations", "function_declarations");

  /** Members of requests of OpenAI's chat completions. */
  static final Set<String> CHAT =
      Set.of(
          "model",
          "messages",
          "tools",
          "tool_choice",
          "parallel_tool_calls",
          "temperature",
          "top_p",
          "max_tokens",
          "max_completion_tokens",
          "stop",
          "seed",
          "frequency_penalty",
          "presence_penalty",
          "response_format",
          "reasoning_effort",
          "verbosity",
          "prompt_cache_key",
          "stream",
          "stream_options",
          "user");

  /** Members of requests of OpenAI's responses. */
  static final Set<String> RESPONSES =
      Set.of(
          "model",
          "instructions",
          "input",
          "tools",
          "tool_choice",
          "parallel_tool_calls",
          "reasoning",
          "text",
          "temperature",
          "top_p",
          "max_output_tokens",
          "truncation",
          "include",
          "store",
          "stream",
          "stream_options",
          "prompt_cache_key",
          "metadata",
          "client_metadata",
          "user");

  /** Members of requests of Anthropic's messages. */
  static final Set<String> MESSAGES =
      Set.of(
          "model",
          "messages",
          "system",
          "tools",
          "tool_choice",
          "max_tokens",
          "temperature",
          "top_p",
          "top_k",
          "stop_sequences",
          "stream",
          "thinking",
          "output_config",
          "output_format",
          "context_management",
          "cache_control",
          "metadata");

  /** Members of requests of Gemini's contents. */
  static final Set<String> GEMINI =
      Set.of(
          "contents",
          "systemInstruction",
          "system_instruction",
          "tools",
          "toolConfig",
          "tool_config",
          "generationConfig",
          "generation_config",
          "safetySettings",
          "safety_settings");

  /** Members of contents that name what the provider is to fetch. */
  private static final Set<String> ADDRESSES =
      Set.of("url", "image_url", "file_url", "file_uri", "fileUri", "server_url");

  /** What has its contents in itself. */
  private static final Pattern DATA = Pattern.compile("data:", Pattern.CASE_INSENSITIVE);

  /** Members that hold contents, by format; schemas of tools are none. */
  private static final Set<String> CONTENTS =
      Set.of(
          "messages",
          "input",
          "contents",
          "system",
          "instructions",
          "systemInstruction",
          "system_instruction");

  private ProviderTools() {}

  /**
   * Takes out of a request what it must not have.
   *
   * @param members that it may have, one of the sets of this class
   * @return the names of what was taken
   */
  static List<String> remove(ObjectNode body, Set<String> members) {
    List<String> removed = new ArrayList<>(body.propertyNames());
    removed.removeAll(members);
    body.remove(removed);
    removeTools(body, removed);
    return removed;
  }

  private static void removeTools(ObjectNode holder, List<String> removed) {
    if (!(holder.get("tools") instanceof ArrayNode tools)) {
      if (holder.remove("tools") != null) removed.add("tools");
      return;
    }
    ArrayNode kept = JsonText.object().arrayNode();
    for (JsonNode tool : tools) {
      JsonNode own = own(tool, removed);
      if (own != null) kept.add(own);
    }
    if (kept.isEmpty()) holder.remove("tools");
    else holder.set("tools", kept);
  }

  private static @Nullable JsonNode own(JsonNode tool, List<String> removed) {
    if (tool.has("type")) {
      String type = tool.path("type").asString("");
      if (type.equals("namespace") && tool instanceof ObjectNode namespace) {
        removeTools(namespace, removed);
        return namespace.has("tools") ? namespace : null;
      }
      if (OWN.matcher(type).matches()) return tool;
      removed.add(type);
      return null;
    }
    if (tool.has("name") && tool.has("input_schema")) return tool;
    ObjectNode own = JsonText.object();
    for (Map.Entry<String, JsonNode> member : tool.properties()) {
      if (DECLARATIONS.contains(member.getKey())) own.set(member.getKey(), member.getValue());
      else removed.add(member.getKey());
    }
    return own.isEmpty() ? null : own;
  }

  /** An address that the provider would fetch; empty if the request names none. */
  static Optional<String> fetched(ObjectNode body) {
    return CONTENTS.stream()
        .flatMap(member -> fetched(body.path(member), false).stream())
        .findFirst();
  }

  private static Optional<String> fetched(JsonNode node, boolean address) {
    if (node.isString()) {
      boolean found = address && !DATA.matcher(node.asString()).lookingAt();
      return found ? Optional.of(node.asString()) : Optional.empty();
    }
    if (node.isArray()) {
      return node.valueStream().flatMap(each -> fetched(each, false).stream()).findFirst();
    }
    // What a program's own tool was called with is text to the provider.
    return node.properties().stream()
        .filter(member -> !Set.of("input", "args", "response").contains(member.getKey()))
        .flatMap(member -> fetched(member.getValue(), ADDRESSES.contains(member.getKey())).stream())
        .findFirst();
  }
}

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
 * code. That is a network by another way. Tools that the program runs itself stay.
 */
final class ProviderTools {
  /** Types of tools that run where the program is; those without a type do, too. */
  private static final Pattern OWN =
      Pattern.compile(
          "function|custom|namespace|local_shell|apply_patch|(bash|text_editor|computer|memory)_\\d+");

  /** Members of a Gemini tool that name functions of the program. */
  private static final Set<String> DECLARATIONS =
      Set.of("functionDeclarations", "function_declarations");

  /** Members of a request that ask for what the provider does. */
  private static final Set<String> MEMBERS =
      Set.of("mcp_servers", "container", "web_search_options", "plugins");

  /** Members of contents that name what the provider is to fetch. */
  private static final Set<String> ADDRESSES =
      Set.of("url", "image_url", "file_url", "file_uri", "fileUri", "server_url");

  private static final Pattern FETCHED = Pattern.compile("(?i)\\s*(https?|ftp|gs|s3):.*");

  /** Members that hold contents, by format; schemas of tools are none. */
  private static final Set<String> CONTENTS =
      Set.of("messages", "input", "contents", "system", "instructions", "systemInstruction");

  private ProviderTools() {}

  /** Takes them out of a request; the names of what was taken. */
  static List<String> remove(ObjectNode body) {
    List<String> removed = new ArrayList<>();
    for (String member : MEMBERS) if (body.remove(member) != null) removed.add(member);
    if (!(body.get("tools") instanceof ArrayNode tools)) return removed;
    ArrayNode kept = JsonText.object().arrayNode();
    for (JsonNode tool : tools) {
      JsonNode own = own(tool, removed);
      if (own != null) kept.add(own);
    }
    if (kept.isEmpty()) body.remove("tools");
    else body.set("tools", kept);
    return removed;
  }

  private static @Nullable JsonNode own(JsonNode tool, List<String> removed) {
    if (tool.has("type")) {
      String type = tool.path("type").asString("");
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
      boolean found = address && FETCHED.matcher(node.asString()).matches();
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

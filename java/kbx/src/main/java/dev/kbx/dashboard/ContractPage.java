package dev.kbx.dashboard;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * An OpenAPI document to be read: operations by tag, and schemas.
 *
 * @param document parsed
 */
record ContractPage(JsonNode document) {
  private static final List<String> METHODS = List.of("get", "post", "put", "patch", "delete");
  private static final ObjectMapper EXAMPLES = new ObjectMapper();

  private record Operation(String method, String path, JsonNode item, JsonNode node) {
    String id() {
      return node.path("operationId").asString("");
    }

    List<JsonNode> parameters() {
      List<JsonNode> all = new ArrayList<>();
      item.path("parameters").forEach(all::add);
      node.path("parameters").forEach(all::add);
      return all;
    }
  }

  static ContractPage of(String yaml) {
    return new ContractPage(new YAMLMapper().readTree(yaml));
  }

  String title() {
    return "%s %s: HTTP interface"
        .formatted(
            document.at("/info/title").asString(""), document.at("/info/version").asString(""));
  }

  Markup body() {
    List<Operation> operations = operations();
    Markup tags =
        Markup.each(
            List.copyOf(document.path("tags").values()),
            tag ->
                Parts.section(
                    tag.path("name").asString(""),
                    tag.path("description").asString(""),
                    Markup.each(
                        operations.stream()
                            .filter(each -> each.node().at("/tags/0").equals(tag.path("name")))
                            .toList(),
                        this::operation)));
    Markup schemas =
        Markup.each(List.copyOf(document.at("/components/schemas").properties()), this::schema);
    return Markup.of(
            "<p>%s</p><p><a href=\"/openapi.yaml\">openapi.yaml</a></p>",
            document.at("/info/description").asString(""))
        .and(contents(operations))
        .and(tags)
        .and(Parts.section("schemas", "Schemas", schemas));
  }

  /** Links to all operations, by tag, and to the schemas. */
  private Markup contents(List<Operation> operations) {
    return Markup.of(
        """
        <nav class="contents" aria-label="Contents">
        <dl>%s<dt><a href="#schemas">schemas</a></dt></dl>
        </nav>
        """,
        Markup.each(
            List.copyOf(document.path("tags").values()),
            tag ->
                Markup.of(
                    "<dt>%s</dt><dd>%s</dd>",
                    tag.path("name").asString(""),
                    Markup.each(
                        operations.stream()
                            .filter(each -> each.node().at("/tags/0").equals(tag.path("name")))
                            .toList(),
                        each ->
                            Markup.of(
                                "<a href=\"#%s\">%s</a> ",
                                each.id(), each.node().path("summary").asString(each.id()))))));
  }

  private List<Operation> operations() {
    List<Operation> all = new ArrayList<>();
    for (Map.Entry<String, JsonNode> path : document.path("paths").properties()) {
      for (String method : METHODS) {
        JsonNode node = path.getValue().path(method);
        if (node.isObject()) all.add(new Operation(method, path.getKey(), path.getValue(), node));
      }
    }
    return all;
  }

  private Markup operation(Operation operation) {
    JsonNode node = operation.node();
    return Markup.of(
        """
        <article class="operation" id="%s">
        <h3><code>%s %s</code> %s</h3>
        <p>%s</p>
        %s%s%s
        </article>
        """,
        operation.id(),
        operation.method().toUpperCase(Locale.ROOT),
        operation.path(),
        node.path("summary").asString(""),
        node.path("description").asString(""),
        parameters(operation.parameters()),
        request(node.path("requestBody")),
        table(
            "Answers",
            List.copyOf(node.path("responses").properties()).stream()
                .map(each -> row(each.getKey(), "", each.getValue()))
                .toList()));
  }

  private Markup parameters(List<JsonNode> parameters) {
    return table(
        "Parameters",
        parameters.stream()
            .map(this::resolved)
            .map(each ->
                row(
                    each.path("name").asString(""),
                    each.path("in").asString("")
                        + (each.path("required").asBoolean(false) ? ", needed" : ""),
                    each))
            .toList());
  }

  private Markup request(JsonNode body) {
    List<Markup> rows = new ArrayList<>();
    Markup examples = Markup.NONE;
    for (Map.Entry<String, JsonNode> type : body.path("content").properties()) {
      rows.add(row(type.getKey(), "", type.getValue()));
      for (JsonNode example : type.getValue().path("examples")) {
        examples =
            examples.and(
                Markup.of(
                    "<pre tabindex=\"0\" role=\"group\""
                        + " aria-label=\"Example\"><code>%s</code></pre>",
                    EXAMPLES
                        .writerWithDefaultPrettyPrinter()
                        .writeValueAsString(example.path("value"))));
      }
    }
    return table("Body", rows).and(examples);
  }

  private Markup schema(Map.Entry<String, JsonNode> schema) {
    List<Markup> rows = new ArrayList<>();
    members(schema.getValue(), rows);
    return Markup.of(
        "<article class=\"operation\" id=\"schema-%s\"><h3>%s</h3><p>%s</p>%s</article>",
        schema.getKey(),
        schema.getKey(),
        rows.isEmpty()
            ? type(schema.getValue())
            : schema.getValue().path("description").asString(""),
        table("Members", rows));
  }

  private void members(JsonNode schema, List<Markup> rows) {
    for (JsonNode part : schema.path("allOf")) members(resolved(part), rows);
    String needed =
        schema
            .path("required")
            .valueStream()
            .map(JsonNode::asString)
            .collect(Collectors.joining(","));
    for (Map.Entry<String, JsonNode> each : schema.path("properties").properties()) {
      boolean isNeeded = ("," + needed + ",").contains("," + each.getKey() + ",");
      rows.add(row(each.getKey(), isNeeded ? "always" : "", each.getValue()));
    }
  }

  private Markup row(String name, String note, JsonNode given) {
    JsonNode node = resolved(given);
    JsonNode content = node.path("content");
    JsonNode schema =
        content.isObject() && !content.isEmpty()
            ? content.iterator().next().path("schema")
            : node.has("schema") ? node.path("schema") : given;
    return Markup.of(
        "<tr><th scope=\"row\"><code>%s</code></th><td data-name=\"type\">%s</td><td"
            + " data-name=\"meaning\">%s%s</td></tr>",
        name,
        type(schema),
        note.isEmpty() ? "" : note + ". ",
        node.path("description").asString(""));
  }

  private Markup type(JsonNode schema) {
    String reference = schema.path("$ref").asString("");
    if (reference.startsWith("#/components/schemas/")) {
      String name = reference.substring(reference.lastIndexOf('/') + 1);
      return Markup.of("<a href=\"#schema-%s\">%s</a>", name, name);
    }
    if (schema.path("type").asString("").equals("array")) {
      return Markup.of("list of %s", type(schema.path("items")));
    }
    String type = schema.path("type").asString("");
    for (String bound :
        List.of("format", "minimum", "maximum", "maxLength", "maxItems", "default")) {
      if (schema.has(bound)) type += ", %s %s".formatted(bound, schema.path(bound).asString());
    }
    if (schema.has("enum")) {
      type =
          schema
              .path("enum")
              .valueStream()
              .map(JsonNode::asString)
              .collect(Collectors.joining(" | "));
    }
    if (type.equals("object") && schema.path("properties").isObject()) {
      type = "{" + String.join(", ", schema.path("properties").propertyNames()) + "}";
    }
    return Markup.of("%s", type);
  }

  private static Markup table(String title, List<Markup> rows) {
    if (rows.isEmpty()) return Markup.NONE;
    return Markup.of(
        "<table class=\"listed\"><caption>%s</caption><tbody>%s</tbody></table>",
        title, Markup.each(rows, each -> each));
  }

  /** What a reference stands for; schemas stay references. */
  private JsonNode resolved(JsonNode node) {
    String reference = node.path("$ref").asString("");
    return reference.isEmpty() ? node : document.at(reference.substring(1));
  }
}

package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.dialect.Dialects;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The contract as the server shows it, and what is compared with it. */
final class Contract {
  private static final String ID = "urn:kbx:openapi";

  /** Parts of what is closed, and of requests. */
  private static final Set<String> OPEN = Set.of("Run", "Candidate", "SubmissionRequest");

  private final JsonNode document;
  private final SchemaRegistry schemas;
  private final Map<String, Pattern> paths = new TreeMap<>(Comparator.reverseOrder());

  Contract(String yaml) {
    document = new YAMLMapper().readTree(yaml);
    document
        .path("paths")
        .propertyNames()
        .forEach(path -> paths.put(path, Pattern.compile(path.replaceAll("\\{[^}]+}", "[^/]+"))));
    close(document.path("paths"));
    document.path("components").path("schemas").properties().stream()
        .filter(schema -> !OPEN.contains(schema.getKey()))
        .forEach(schema -> close(schema.getValue()));
    schemas =
        SchemaRegistry.withDialect(
            Dialects.getOpenApi31(), builder -> builder.schemas(Map.of(ID, document.toString())));
  }

  /** Nothing may be in an answer that the contract does not tell. */
  private static void close(JsonNode schema) {
    for (Map.Entry<String, JsonNode> each : schema.properties()) {
      if (!each.getKey().equals("allOf")) close(each.getValue());
    }
    if (schema.isArray()) schema.forEach(Contract::close);
    if (schema instanceof ObjectNode object
        && (schema.path("properties").isObject() || schema.path("allOf").isArray())
        && !schema.has("additionalProperties")) {
      object.put("unevaluatedProperties", false);
    }
  }

  /** {@code GET /v1/runs/{id}} and the others. */
  Set<String> operations() {
    Set<String> operations = new TreeSet<>();
    document
        .path("paths")
        .properties()
        .forEach(path ->
            path.getValue().propertyNames().stream()
                .filter(name -> !name.equals("parameters"))
                .forEach(method ->
                    operations.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
    return operations;
  }

  /** Whether a body that is submitted is as the contract wants it. */
  boolean accepts(String body) {
    String at = ID + "#/components/schemas/SubmissionRequest";
    return schemas.getSchema(SchemaLocation.of(at)).validate(body, InputFormat.JSON).isEmpty();
  }

  /** The statuses of an operation, and whether it needs a token. */
  Set<String> statuses(String operation) {
    return new TreeSet<>(operation(operation).path("responses").propertyNames());
  }

  boolean needsToken(String operation) {
    return !operation(operation).has("security");
  }

  /** Media types of its body. */
  Set<String> bodies(String operation) {
    return new TreeSet<>(operation(operation).at("/requestBody/content").propertyNames());
  }

  private JsonNode operation(String operation) {
    String[] parts = operation.split(" ", 2);
    return document.path("paths").path(parts[1]).path(parts[0].toLowerCase(Locale.ROOT));
  }

  /**
   * Fails unless the contract has this answer.
   *
   * @return the operation that was asked for; empty where the contract has nothing
   */
  Optional<String> check(HttpRequest request, HttpResponse<String> response) {
    String asked = request.uri().getPath();
    Optional<String> path =
        paths.entrySet().stream()
            .filter(each -> each.getValue().matcher(asked).matches())
            .map(Map.Entry::getKey)
            .findFirst();
    String method = request.method().toLowerCase(Locale.ROOT);
    if (path.isEmpty() || !document.path("paths").path(path.get()).has(method)) {
      return Optional.empty();
    }
    String operation = request.method() + " " + path.get();
    String status = Integer.toString(response.statusCode());
    String at = "/paths/%s/%s/responses/%s".formatted(escaped(path.get()), method, status);
    JsonNode answer = document.at(at);
    assertThat(answer.isMissingNode())
        .as("%s: %s\n%s", operation, status, response.body())
        .isFalse();
    if (answer.has("$ref")) {
      at = answer.path("$ref").asString().substring(1);
      answer = document.at(at);
    }
    String type = response.headers().firstValue("content-type").orElse("").replaceAll(";.*", "");
    assertThat(answer.path("content").has(type)).as("%s %s: %s", operation, status, type).isTrue();
    if (type.endsWith("json")) {
      Schema schema =
          schemas.getSchema(
              SchemaLocation.of("%s#%s/content/%s/schema".formatted(ID, at, escaped(type))));
      List<Error> errors = schema.validate(response.body(), InputFormat.JSON);
      assertThat(errors).as("%s %s\n%s", operation, status, response.body()).isEmpty();
    }
    return Optional.of(operation);
  }

  private static String escaped(String name) {
    return name.replace("~", "~0").replace("/", "~1");
  }
}

package dev.kbx.verdict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.kbx.verdict.Fields.Doc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

class FieldsTest {
  /** Values that JSON leaves out: what is empty, and ends of intervals that exclude nothing. */
  private static final Set<Object> ABSENT = Set.of("", Map.of(), 0.0, Double.POSITIVE_INFINITY);

  /** What JSON has at a path; of members of objects in a list the list of all. */
  private static JsonNode at(JsonNode json, List<String> path) {
    if (path.isEmpty() || json.isMissingNode()) return json;
    String name = path.getFirst();
    List<String> rest = path.subList(1, path.size());
    if (!name.endsWith("[]")) return at(json.path(name), rest);
    JsonNode list = json.path(name.replace("[]", ""));
    if (list.isMissingNode()) return list;
    ArrayNode all = Json.mapper().createArrayNode();
    for (JsonNode each : list) {
      JsonNode found = at(each, rest);
      all.add(found.isMissingNode() ? Json.mapper().nullNode() : found);
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(strings = {"file", "gpu", "models", "published", "refine"})
  void fieldValuesEqualJson(String run) throws Exception {
    Path file = Path.of("java/tests/src/test/resources/golden", run, "input/verdicts.jsonl");
    for (String line : Files.readAllLines(file)) {
      Verdict verdict = Json.mapper().readValue(line, Verdict.class);
      JsonNode whole = Json.mapper().readTree(Json.mapper().writeValueAsString(verdict));
      for (Field<Verdict> field : Fields.VERDICT.all()) {
        JsonNode right = at(whole, List.of(field.name().split("\\.")));
        Object value = field.value().of(verdict);
        if (value == null || (right.isMissingNode() && ABSENT.contains(value))) {
          assertThat(right.isMissingNode()).as(field.name()).isTrue();
          assertThat(value == null && !field.nullable()).as(field.name()).isFalse();
          continue;
        }
        JsonNode json = Json.mapper().valueToTree(value);
        assertThat(json.toString()).as(field.name()).isEqualTo(right.toString());
      }
    }
  }

  private record Row(@Doc("a name") String someName, @Doc("times") Map<String, Double> times) {}

  @Test
  void columnsAreSelectedByPath() {
    Fields<Row> fields =
        Fields.of(Row.class)
            .and(Field.of("size", Field.Type.INTEGER, "size", row -> row.times().size()));
    Row row = new Row("x", Map.of("call", 1.5));
    List<Field<Row>> columns = fields.select("size, some_name as name,\n times.call as call");
    assertThat(columns).extracting(Field::name).containsExactly("size", "name", "call");
    assertThat(columns).extracting(each -> each.value().of(row)).containsExactly(1, "x", 1.5);
    assertThat(columns.getLast().type()).isEqualTo(Field.Type.NUMBER);
    assertThatIllegalArgumentException().isThrownBy(() -> fields.select("size, other"));
    assertThatIllegalArgumentException().isThrownBy(() -> fields.at("some_name.call"));
  }

  private record Bare(String name) {}

  @Test
  void fieldsAreDescribed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Fields.of(Bare.class))
        .withMessageContaining("has no @Doc");
  }
}

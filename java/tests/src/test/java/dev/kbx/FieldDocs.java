package dev.kbx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.Field;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Documentation that is made from fields and lies in the repository. A test that finds another text
 * fails; with {@code -Dkbx.docs=write} it writes it.
 */
public final class FieldDocs {
  private static final boolean WRITE = "write".equals(System.getProperty("kbx.docs"));
  private static final Pattern LINK = Pattern.compile("\\[([^]]+)]\\([^)]+\\)");

  private FieldDocs() {}

  /** Holds the first table below a heading against fields. */
  public static void table(Path page, String heading, List<? extends Field<?>> fields)
      throws IOException {
    Pattern place = Pattern.compile("\n" + Pattern.quote(heading) + "\n(?s:.*?\n)((?:\\|.*\n)+)");
    String rows =
        fields.stream()
            .map(each ->
                "| `%s` | %s | %s |\n".formatted(each.name(), each.type().label(), each.means()))
            .collect(Collectors.joining());
    hold(page, place, "| field | type | means |\n|---|---|---|\n" + rows);
  }

  /** Holds the properties of a schema in the HTTP contract against fields. */
  public static void schema(Path contract, String name, List<? extends Field<?>> fields)
      throws IOException {
    Pattern place =
        Pattern.compile(
            "\n    %s:\n(?: {6}.*\n)*?( {6}required: .*\n(?: {6}.*\n)*)".formatted(name));
    String needed =
        fields.stream()
            .filter(each -> !each.nullable())
            .map(each -> each.name().replaceFirst("\\..*", ""))
            .distinct()
            .collect(Collectors.joining(", "));
    Node root = new Node();
    for (Field<?> each : fields) root.put(each.name(), each);
    hold(contract, place, "      required: [%s]\n%s".formatted(needed, root.yaml("      ")));
  }

  private static void hold(Path file, Pattern place, String right) throws IOException {
    String text = Files.readString(file);
    Matcher found = place.matcher(text);
    assertThat(found.find()).as("%s: %s", file, place).isTrue();
    if (WRITE) {
      Files.writeString(
          file, text.substring(0, found.start(1)) + right + text.substring(found.end(1)));
      return;
    }
    assertThat(found.group(1))
        .as("%s is not as the code says; -Dkbx.docs=write writes it", file)
        .isEqualTo(right);
  }

  /** An object of JSON: its members are objects, lists of objects ({@code sizes[]}) or fields. */
  private record Node(Map<String, Node> objects, Map<String, Field<?>> fields, List<String> order) {
    Node() {
      this(new LinkedHashMap<>(), new LinkedHashMap<>(), new ArrayList<>());
    }

    void put(String path, Field<?> field) {
      int dot = path.indexOf('.');
      String name = dot < 0 ? path : path.substring(0, dot);
      if (!order.contains(name)) order.add(name);
      if (dot < 0) fields.put(name, field);
      else objects.computeIfAbsent(name, _ -> new Node()).put(path.substring(dot + 1), field);
    }

    String yaml(String indent) {
      StringBuilder text = new StringBuilder(indent + "properties:\n");
      for (String each : order) {
        Field<?> field = fields.get(each);
        if (field != null) {
          text.append(
              indent
                  + "  %s: {%s, description: %s}\n"
                      .formatted(each, type(field.type()), quoted(field)));
          continue;
        }
        text.append(indent + "  " + each.replace("[]", "") + ":\n");
        String inner = indent + "    ";
        if (each.endsWith("[]")) {
          text.append(inner + "type: array\n" + inner + "items:\n");
          inner += "  ";
        }
        text.append(inner + "type: object\n" + objects.get(each).yaml(inner));
      }
      return text.toString();
    }

    private static String quoted(Field<?> field) {
      return Json.mapper().writeValueAsString(LINK.matcher(field.means()).replaceAll("$1"));
    }

    private static String type(Field.Type type) {
      return switch (type) {
        case TEXT -> "type: string";
        case TIME -> "type: string, format: date-time";
        case INTEGER, LONG -> "type: integer";
        case NUMBER -> "type: number";
        case BOOLEAN -> "type: boolean";
        case TEXTS -> "type: array, items: {type: string}";
        case INTEGERS -> "type: array, items: {type: integer}";
        case NUMBERS -> "type: array, items: {type: number}";
        case TEXTS_BY_NAME -> "type: object, additionalProperties: {type: string}";
        // Numbers that are not finite are texts.
        case NUMBERS_BY_NAME -> "type: object, additionalProperties: {type: [number, string]}";
        case MESSAGES -> "type: array, items: {type: object}";
        case OBJECT -> "type: object, additionalProperties: true";
      };
    }
  }
}

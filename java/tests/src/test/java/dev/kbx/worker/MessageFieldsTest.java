package dev.kbx.worker;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonTypeName;
import dev.kbx.TestPython;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The two sides of the protocol agree: each message has the same fields of the same types as a
 * dataclass of {@code worker/kbx/messages} and as a record here. What its sender may leave out, its
 * receiver must not require; the receiver may put up with less.
 */
class MessageFieldsTest {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final Path HOME = TestPython.home();

  private static final Map<String, Type> python = new TreeMap<>();

  /** Names of the messages that the JVM sends. */
  private static final SortedSet<String> requests = new TreeSet<>();

  /** What a field may hold. */
  private sealed interface Type {
    record Scalar(String name) implements Type {}

    record OneOf(SortedSet<String> values) implements Type {}

    record ListOf(Field element) implements Type {}

    record MapOf(Type keys, Field values) implements Type {}

    record Fields(Map<String, Field> fields) implements Type {}

    /** JSON that the JVM passes on unread. */
    record Anything() implements Type {}
  }

  /** A type, and whether a value may be absent or null. */
  private record Field(Type type, boolean optional) {}

  @BeforeAll
  static void askPython() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            TestPython.interpreter().executable().toString(), "tests/message_schema.py");
    builder.environment().put("PYTHONPATH", "."); // of the worker
    Process process = builder.directory(HOME.resolve("worker").toFile()).start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(errors).isZero();
    JsonNode messages = MAPPER.readTree(printed);
    requests.addAll(messages.get("requests").propertyNames());
    for (JsonNode sent : messages) {
      sent.properties().forEach(m -> python.put(m.getKey(), read(m.getValue())));
    }
  }

  @Test
  void eachMessageHasEqualFieldsInJavaAndPython() {
    assertThat(differences(python, java())).isEmpty();
  }

  @Test
  void fieldMissingOnOneSideIsNamed() {
    Field text = new Field(new Type.Scalar("str"), false);
    Map<String, Type> more = new TreeMap<>(python);
    more.put("spawned", with(more.get("spawned"), "note", text));

    assertThat(differences(more, java())).containsExactly("spawned.note: Python alone has it");

    Map<String, Field> fields =
        new TreeMap<>(((Type.Fields) requireNonNull(python.get("spawned"))).fields());
    fields.remove("seconds");
    Map<String, Type> less = new TreeMap<>(python);
    less.put("spawned", new Type.Fields(fields));
    assertThat(differences(less, java())).containsExactly("spawned.seconds: Java alone has it");
  }

  @Test
  void fieldOfDifferentTypeIsNamed() {
    Map<String, Type> other = new TreeMap<>(python);
    other.put("kill", with(other.get("kill"), "runner", new Field(new Type.Scalar("str"), false)));

    assertThat(differences(other, java()))
        .containsExactly("kill.runner: in Python Scalar[name=str], in Java Scalar[name=int]");
  }

  @Test
  void requiredFieldMustBeSent() {
    Map<String, Type> other = new TreeMap<>(python);
    Field id = new Field(new Type.Scalar("int"), true);
    other.put("spawned", with(other.get("spawned"), "id", id)); // an answer
    other.put("spawn", with(other.get("spawn"), "id", id)); // a request: Python accepts less

    assertThat(differences(other, java()))
        .containsExactly("spawned.id: Python may leave it out, Java requires it");

    Field uid = new Field(new Type.Scalar("int"), false);
    other = new TreeMap<>(python);
    other.put("spawn", with(other.get("spawn"), "uid", uid));

    assertThat(differences(other, java()))
        .containsExactly("spawn.uid: Java may leave it out, Python requires it");
  }

  @Test
  void protocolPageListsEveryMessage() throws Exception {
    String page = Files.readString(HOME.resolve("docs/protocol.md"));
    String table = page.substring(page.indexOf("## Messages"), page.indexOf("## One judgement"));
    assertThat(java().keySet())
        .allSatisfy(name ->
            assertThat(name.equals("hello") ? page : table)
                .containsPattern("`" + Pattern.quote(name) + "`"));
  }

  private static Type with(@Nullable Type message, String name, Field field) {
    Map<String, Field> fields = new TreeMap<>(((Type.Fields) requireNonNull(message)).fields());
    fields.put(name, field);
    return new Type.Fields(fields);
  }

  // ------------------------------------------------------------------ comparing

  private static List<String> differences(Map<String, Type> python, Map<String, Type> java) {
    List<String> found = new ArrayList<>();
    for (String name : union(python.keySet(), java.keySet())) {
      Type inPython = python.get(name);
      Type inJava = java.get(name);
      if (inPython == null) found.add(name + ": Java alone has it");
      else if (inJava == null) found.add(name + ": Python alone has it");
      else compare(name, inPython, inJava, found);
    }
    return found;
  }

  private static SortedSet<String> union(
      java.util.Collection<String> one, java.util.Collection<String> other) {
    SortedSet<String> all = new TreeSet<>(one);
    all.addAll(other);
    return all;
  }

  private static void compareFields(String place, Field python, Field java, List<String> found) {
    boolean fromJava = requests.contains(place.split("\\W", 2)[0]);
    if (fromJava && java.optional && !python.optional) {
      found.add(place + ": Java may leave it out, Python requires it");
    }
    if (!fromJava && python.optional && !java.optional) {
      found.add(place + ": Python may leave it out, Java requires it");
    }
    if (!fromJava && java.optional && !python.optional) {
      found.add(place + ": Python always sends it, Java does not require it");
    }
    compare(place, python.type, java.type, found);
  }

  private static void compare(String place, Type python, Type java, List<String> found) {
    switch (java) {
      case Type.Anything _ -> {}
      case Type.ListOf(Field element) when python instanceof Type.ListOf(Field other) ->
          compareFields(place + "[]", other, element, found);
      case Type.MapOf(Type keys, Field values) when python instanceof Type.MapOf map -> {
        compare(place + " keys", map.keys, keys, found);
        compareFields(place + "{}", map.values, values, found);
      }
      case Type.MapOf(Type _, Field values) when python instanceof Type.Fields(var fields) ->
          fields.forEach(
              (name, each) -> compare(place + "." + name, each.type, values.type, found));
      case Type.Fields(var fields) when python instanceof Type.Fields(var others) -> {
        for (String name : union(others.keySet(), fields.keySet())) {
          String inside = place + "." + name;
          Field inPython = others.get(name);
          Field inJava = fields.get(name);
          if (inPython == null) found.add(inside + ": Java alone has it");
          else if (inJava == null) found.add(inside + ": Python alone has it");
          else compareFields(inside, inPython, inJava, found);
        }
      }
      default -> {
        if (!python.equals(java)) {
          found.add("%s: in Python %s, in Java %s".formatted(place, python, java));
        }
      }
    }
  }

  // ------------------------------------------------------------------ Python's side

  private static Type read(JsonNode type) {
    if (type.isString()) {
      String name = type.asString();
      return name.equals("any") ? new Type.Anything() : new Type.Scalar(name);
    }
    if (type.has("enum")) {
      SortedSet<String> values = new TreeSet<>();
      type.get("enum").forEach(value -> values.add(value.asString()));
      return new Type.OneOf(values);
    }
    if (type.has("list")) return new Type.ListOf(readField(type.get("list")));
    if (type.has("map")) {
      return new Type.MapOf(read(type.get("keys")), readField(type.get("map")));
    }
    Map<String, Field> fields = new TreeMap<>();
    type.get("fields").properties().forEach(f -> fields.put(f.getKey(), readField(f.getValue())));
    return new Type.Fields(fields);
  }

  private static Field readField(JsonNode field) {
    return new Field(read(field.get("type")), field.get("optional").asBoolean());
  }

  // ------------------------------------------------------------------ Java's side

  private static Map<String, Type> java() {
    Map<String, Type> messages = new TreeMap<>();
    records(Message.class)
        .forEach(each -> messages.put(each.getAnnotation(JsonTypeName.class).value(), of(each)));
    return messages;
  }

  private static Stream<Class<?>> records(Class<?> type) {
    return type.isRecord()
        ? Stream.of(type)
        : Arrays.stream(type.getPermittedSubclasses())
            .flatMap(MessageFieldsTest::records)
            .distinct();
  }

  private static Type of(Class<?> type) {
    if (type == JsonNode.class) return new Type.Anything();
    if (type == String.class) return new Type.Scalar("str");
    if (type == int.class || type == Integer.class || type == long.class || type == Long.class) {
      return new Type.Scalar("int");
    }
    if (type == double.class || type == Double.class) return new Type.Scalar("float");
    if (type == boolean.class || type == Boolean.class) return new Type.Scalar("bool");
    if (type.isEnum()) {
      SortedSet<String> values = new TreeSet<>();
      for (Object value : type.getEnumConstants()) {
        values.add(((Enum<?>) value).name().toLowerCase(Locale.ROOT));
      }
      return new Type.OneOf(values);
    }
    assertThat(type.isRecord()).as("a type of the protocol: %s", type).isTrue();
    Map<String, Field> fields = new TreeMap<>();
    for (RecordComponent component : type.getRecordComponents()) {
      fields.put(name(type, component), of(component.getAnnotatedType()));
    }
    return new Type.Fields(fields);
  }

  private static String name(Class<?> type, RecordComponent component) {
    try {
      JsonProperty named =
          type.getDeclaredField(component.getName()).getAnnotation(JsonProperty.class);
      if (named != null) return named.value();
      return component.getName().replaceAll("[A-Z]", "_$0").toLowerCase(Locale.ROOT);
    } catch (NoSuchFieldException e) {
      throw new AssertionError(e);
    }
  }

  private static Field of(AnnotatedType type) {
    boolean optional = type.isAnnotationPresent(Nullable.class);
    if (!(type instanceof AnnotatedParameterizedType generic)) {
      return new Field(of((Class<?>) type.getType()), optional);
    }
    AnnotatedType[] arguments = generic.getAnnotatedActualTypeArguments();
    Field last = of(arguments[arguments.length - 1]);
    Type made =
        arguments.length == 1 ? new Type.ListOf(last) : new Type.MapOf(of(arguments[0]).type, last);
    return new Field(made, optional);
  }
}

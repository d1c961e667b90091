package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.verdict.Field.Message;
import dev.kbx.verdict.Field.Value;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The fields of a record as its JSON has them, made from its components. Every other form of a
 * verdict (CSV, Parquet, columns of SQL, training rows) and its documentation selects from {@link
 * #VERDICT} by path.
 */
public final class Fields<T> {
  /** The fields of a line of {@code results.jsonl}. */
  public static final Fields<Verdict> VERDICT = of(Verdict.class);

  /**
   * Meaning of a record component that users see as a field of files: the only description of it.
   * Documentation and the HTTP contract are made from it.
   */
  @Documented
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.RECORD_COMPONENT)
  public @interface Doc {
    /** One phrase that stands alone, in Markdown. */
    String value();

    /** Unit of a number, spelled out; empty if the meaning says it or there is none. */
    String unit() default "";
  }

  private final Map<String, Field<T>> byPath = new LinkedHashMap<>();

  private Fields() {}

  /** The fields of a record, each of whose components has a {@link Doc} or is a record itself. */
  public static <R extends Record> Fields<R> of(Class<R> record) {
    Fields<R> fields = new Fields<>();
    fields.add(record, "", () -> false, row -> row);
    return fields;
  }

  /** These fields and more, which are found by their names. */
  @SafeVarargs
  public final Fields<T> and(Field<T>... more) {
    Fields<T> fields = new Fields<>();
    fields.byPath.putAll(byPath);
    for (Field<T> each : more) fields.byPath.put(each.name(), each);
    return fields;
  }

  /**
   * The fields of columns, in their order.
   *
   * @param columns paths as of {@link #at}, with commas between; {@code path as name} for a column
   *     of another name
   */
  public List<Field<T>> select(String columns) {
    return Arrays.stream(columns.strip().split("\\s*,\\s*"))
        .map(each -> each.split("\\s+as\\s+"))
        .map(words -> at(words[0]).as(words[words.length - 1]))
        .toList();
  }

  /** All, in the order of the components. */
  public List<Field<T>> all() {
    return List.copyOf(byPath.values());
  }

  /**
   * The field at a path.
   *
   * @param path {@code speedup.low}; {@code versions.torch} for a member of an object of texts or
   *     numbers
   * @throws IllegalArgumentException if there is none
   */
  public Field<T> at(String path) {
    Field<T> field = byPath.get(path);
    return field == null ? member(path) : field;
  }

  private Field<T> member(String path) {
    int dot = path.lastIndexOf('.');
    Field<T> object = byPath.get(path.substring(0, Math.max(0, dot)));
    if (object == null) throw new IllegalArgumentException("no field " + path);
    Field.Type type =
        switch (object.type()) {
          case TEXTS_BY_NAME -> Field.Type.TEXT;
          case NUMBERS_BY_NAME -> Field.Type.NUMBER;
          default -> throw new IllegalArgumentException("no field " + path);
        };
    String name = path.substring(dot + 1);
    String doc = "`%s` of `%s`".formatted(name, object.name());
    Value<T> value = row -> object.value().of(row) instanceof Map<?, ?> all ? all.get(name) : null;
    return new Field<>(path, type, "", doc, () -> true, value);
  }

  private void add(Class<?> record, String prefix, BooleanSupplier nullable, Value<T> owner) {
    for (RecordComponent each : record.getRecordComponents()) {
      Method accessor = each.getAccessor();
      accessor.setAccessible(true); // A record need not be public.
      Value<T> value = row -> part(owner.of(row), accessor);
      Class<?> type = each.getType();
      if (accessor.isAnnotationPresent(JsonUnwrapped.class)) {
        add(type, prefix, nullable, value);
        continue;
      }
      String name = prefix + name(each);
      BooleanSupplier absent = () -> nullable.getAsBoolean() || mayBeAbsent(each);
      List<Class<?>> of = arguments(each);
      if (type.isRecord()) {
        add(type, name + ".", absent, value);
      } else if (type == List.class && of.getLast().isRecord() && of.getLast() != Message.class) {
        add(of.getLast(), name + "[].", () -> true, value);
      } else {
        Doc doc = each.getAnnotation(Doc.class);
        if (doc == null) throw new IllegalArgumentException(each + " has no @Doc");
        Field.Type kind = type(type, of);
        byPath.put(name, new Field<>(name, kind, doc.unit(), doc.value(), absent, value));
      }
    }
  }

  private static boolean mayBeAbsent(RecordComponent component) {
    return component.getAnnotatedType().isAnnotationPresent(Nullable.class)
        || component.getAccessor().isAnnotationPresent(JsonInclude.class);
  }

  /** {@code callOk} as {@code call_ok}, unless its JSON has another name. */
  private static String name(RecordComponent component) {
    JsonProperty renamed = component.getAccessor().getAnnotation(JsonProperty.class);
    return renamed == null ? snakeCase(component.getName()) : renamed.value();
  }

  /** {@code callOk} as {@code call_ok}. */
  public static String snakeCase(String name) {
    return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }

  private static List<Class<?>> arguments(RecordComponent component) {
    List<Class<?>> classes = new ArrayList<>();
    if (component.getGenericType() instanceof ParameterizedType type) {
      for (var each : type.getActualTypeArguments()) classes.add((Class<?>) each);
    }
    return classes;
  }

  private static Field.Type type(Class<?> type, List<Class<?>> arguments) {
    if (type == List.class) {
      if (arguments.getLast() == Double.class) return Field.Type.NUMBERS;
      if (arguments.getLast() == Long.class) return Field.Type.INTEGERS;
      return arguments.getLast() == Message.class ? Field.Type.MESSAGES : Field.Type.TEXTS;
    }
    if (type == Map.class) {
      return arguments.getLast() == Double.class
          ? Field.Type.NUMBERS_BY_NAME
          : Field.Type.TEXTS_BY_NAME;
    }
    if (type == int.class || type == Integer.class) return Field.Type.INTEGER;
    if (type == long.class || type == Long.class) return Field.Type.LONG;
    if (type == double.class || type == Double.class) return Field.Type.NUMBER;
    if (type == boolean.class || type == Boolean.class) return Field.Type.BOOLEAN;
    if (type == Instant.class) return Field.Type.TIME;
    if (type == JsonNode.class) return Field.Type.OBJECT;
    if (type == String.class || type.isEnum()) return Field.Type.TEXT;
    throw new IllegalArgumentException("no field of JSON is a " + type);
  }

  /** The value of a component; of a list those of all elements. */
  private static @Nullable Object part(@Nullable Object owner, Method accessor) {
    if (owner == null) return null;
    if (owner instanceof List<?> all) {
      return all.stream().map(each -> part(each, accessor)).toList();
    }
    try {
      Object part = accessor.invoke(owner);
      return part instanceof Enum<?> constant ? label(constant) : part;
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException(e);
    }
  }

  /** As {@code @JsonValue} of the enums of verdicts says. */
  private static String label(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}

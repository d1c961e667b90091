package dev.kbx.verdict;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A named value of rows of type {@code T}: a member of JSON, or a column of CSV, Parquet or SQL.
 *
 * @param name in snake case; of a member of inner objects the path, {@code sizes[].shape}
 * @param unit of a number, spelled out; empty if the meaning says it or there is none
 * @param doc what it means, in Markdown
 * @param absent as {@link #nullable}; asked only then, as annotations of types take long to read
 * @param value reads it from a row
 */
public record Field<T>(
    String name, Type type, String unit, String doc, BooleanSupplier absent, Value<T> value) {

  /** Reads a value from a row. */
  public interface Value<T> {
    /** The value, of the class that the {@link Type} names; null where it is not known. */
    @Nullable Object of(T row);
  }

  /** What values are; the name in documentation is {@link #label}. */
  public enum Type {
    /** A {@link String}. */
    TEXT("text"),
    /** A {@link java.time.Instant}. */
    TIME("text"),
    /** An {@link Integer}. */
    INTEGER("integer"),
    /** A {@link Long}. */
    LONG("integer"),
    /** A {@link Double}. */
    NUMBER("number"),
    /** A {@link Boolean}. */
    BOOLEAN("boolean"),
    /** A {@link List} of strings. */
    TEXTS("list"),
    /** A {@link List} of whole numbers. */
    INTEGERS("list"),
    /** A {@link List} of doubles. */
    NUMBERS("list"),
    /** A {@link java.util.Map} of strings. */
    TEXTS_BY_NAME("object of texts"),
    /** A {@link java.util.Map} of doubles. */
    NUMBERS_BY_NAME("object of numbers"),
    /** A {@link List} of {@link Message}. */
    MESSAGES("list"),
    /** JSON of others, of any form. */
    OBJECT("object");

    private final String label;

    Type(String label) {
      this.label = label;
    }

    /** The name in documentation: {@code text, integer, …}. */
    public String label() {
      return label;
    }
  }

  /** A message to a model. */
  public record Message(String role, String content) {}

  /** A field that no record has as a component. */
  public static <T> Field<T> of(String name, Type type, String doc, Value<T> value) {
    return new Field<>(name, type, "", doc, () -> true, value);
  }

  /** Whether rows may lack it. */
  public boolean nullable() {
    return absent.getAsBoolean();
  }

  /** The meaning and the unit, as documentation has them. */
  public String means() {
    return unit.isEmpty() ? doc : doc + ", " + unit;
  }

  /** This field under another name; of a member of each object in a list, the list of all. */
  public Field<T> as(String other) {
    return new Field<>(other, name.contains("[]") ? Type.TEXTS : type, unit, doc, absent, value);
  }

  /** This field of rows that a condition holds for; null of others. */
  public Field<T> where(Predicate<T> condition) {
    return new Field<>(
        name, type, unit, doc, () -> true, row -> condition.test(row) ? value.of(row) : null);
  }

  /** This field of rows that have a {@code T} as a part. */
  public <R> Field<R> in(Function<R, T> part) {
    return new Field<>(name, type, unit, doc, absent, row -> value.of(part.apply(row)));
  }

  /** This field with a list of texts as one text, with {@code ;} between. */
  public Field<T> flat() {
    if (type != Type.TEXTS) return this;
    Value<T> flat = row -> value.of(row) instanceof List<?> texts ? joined(texts, ";") : null;
    return new Field<>(name, Type.TEXT, unit, doc, absent, flat);
  }

  /** Values of a row as an object of JSON, in the order of the fields, without what is null. */
  public static <T> ObjectNode json(List<Field<T>> fields, T row) {
    ObjectNode object = Json.mapper().createObjectNode();
    for (Field<T> each : fields) {
      Object value = each.value().of(row);
      if (value != null) object.putPOJO(each.name(), value);
    }
    return object;
  }

  /** Elements as one text. */
  public static String joined(List<?> elements, String between) {
    return String.join(between, elements.stream().map(String::valueOf).toList());
  }
}

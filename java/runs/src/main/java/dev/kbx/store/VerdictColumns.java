package dev.kbx.store;

import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Field;
import dev.kbx.verdict.Fields;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The columns of the table of verdicts, which all but the first two derive from the body. */
final class VerdictColumns {
  /** What is searched, counted and grouped by. */
  private static final List<Field<Verdict>> FIELDS =
      Fields.VERDICT.select(
          """
          candidate, suite, category, task, method, model, sample, round, status, stage,
          device.name as device, speedup.value as speedup, speedup.low as speedup_low,
          speedup.high as speedup_high, speedup.baseline as baseline, grade,
          call_ok, exe_ok, published_ok, general_ok, conditions, features.structure as structure,
          features.complexity as complexity, features.techniques as techniques
          """);

  /** In the order of {@link #of}. */
  static final List<String> NAMES =
      Stream.of(
              Stream.of("run", "position", "body", "identity"),
              FIELDS.stream().map(Field::name),
              Stream.of("brief"))
          .flatMap(names -> names)
          .toList();

  /** The columns whose text the database may not take as it is. */
  static final List<String> ENCODED = List.of("identity", "method", "model");

  /** A statement that inserts a row; its parameters are in the order of the names. */
  static final String INSERT =
      NAMES.stream()
          .map(_ -> "?")
          .collect(
              Collectors.joining(
                  ", ", "INSERT INTO verdict (" + String.join(", ", NAMES) + ") VALUES (", ")"));

  private VerdictColumns() {}

  /** The row of a verdict, by column. */
  static Map<String, @Nullable Object> of(Database database, int position, Verdict verdict) {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("run", verdict.provenance().run());
    row.put("position", position);
    row.put("body", Json.mapper().writeValueAsString(verdict));
    row.put("identity", verdict.provenance().identity().text());
    for (Field<Verdict> each : FIELDS) row.put(each.name(), stored(each.value().of(verdict)));
    row.put("brief", Json.mapper().writeValueAsString(BriefVerdict.of(verdict)));
    for (String name : ENCODED) {
      if (row.get(name) instanceof String text) row.put(name, database.stored(text));
    }
    return row;
  }

  /** A value as a column has it. */
  private static @Nullable Object stored(@Nullable Object value) {
    return switch (value) {
      case null -> null;
      case Boolean known -> known ? 1 : 0;
      case List<?> texts -> Field.joined(texts, ",");
      case Map<?, ?> texts -> texts.isEmpty() ? null : Json.mapper().writeValueAsString(texts);
      default -> value;
    };
  }
}

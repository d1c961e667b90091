package dev.kbx.verdict;

import dev.kbx.verdict.BriefVerdict.Efficiency;
import dev.kbx.verdict.BriefVerdict.OfBaseline;
import dev.kbx.verdict.BriefVerdict.Sizes;
import dev.kbx.verdict.Verdict.Bound;
import dev.kbx.verdict.Verdict.Device;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.exc.StreamReadException;

/**
 * Reads a {@link BriefVerdict}'s JSON token by token, in the order of the components: of a hundred
 * thousand, data binding would take as long as all the rest.
 */
final class BriefReader {
  private static final Map<String, Status> STATUSES = byLabel(Status.values(), Status::label);
  private static final Map<String, Stage> STAGES = byLabel(Stage.values(), Stage::label);
  private static final Map<String, Bound> BOUNDS = byLabel(Bound.values(), Bound::label);

  private final JsonParser parser;
  private boolean ended;

  private BriefReader(JsonParser parser) {
    this.parser = parser;
  }

  private static <E> Map<String, E> byLabel(E[] values, Function<E, String> label) {
    return Arrays.stream(values).collect(Collectors.toMap(label, value -> value));
  }

  static BriefVerdict read(String json) {
    try (JsonParser parser = Json.mapper().createParser(json)) {
      BriefReader reader = new BriefReader(parser);
      BriefVerdict verdict = reader.array(reader::verdict);
      if (verdict == null) throw reader.wrong();
      return verdict;
    }
  }

  /** Arguments are evaluated in their order. */
  private BriefVerdict verdict() {
    return new BriefVerdict(
        needed(text()),
        Objects.requireNonNullElse(text(), ""), // A published result without source.
        needed(text()),
        needed(text()),
        needed(text()),
        needed(text()),
        needed(integer()),
        text(),
        text(),
        integer(),
        conditions(),
        needed(STATUSES.get(needed(text()))),
        needed(STAGES.get(needed(text()))),
        flag(),
        flag(),
        needed(flag()),
        needed(flag()),
        flag(),
        flag(),
        texts(),
        texts(),
        needed(flag()),
        text(),
        text(),
        array(() ->
            new SourceFeatures(needed(text()), needed(integer()), needed(integer()), texts())),
        decimal(),
        needed(array(() -> new Device(needed(text()), needed(text()), text(), text(), text()))),
        array(() -> new Speedup(needed(decimal()), end(), end(), needed(text()))),
        baselines(),
        array(() ->
            new Sizes(texts(), needed(decimal()), decimal(), array(this::efficiency), decimal())),
        unproven());
  }

  /** The last component, which those that earlier versions have stored lack. */
  private boolean unproven() {
    JsonToken token = parser.nextToken();
    ended = token == JsonToken.END_ARRAY;
    if (!ended && token != JsonToken.VALUE_TRUE && token != JsonToken.VALUE_FALSE) throw wrong();
    return token == JsonToken.VALUE_TRUE;
  }

  private Efficiency efficiency() {
    return new Efficiency(
        needed(text()), decimal(), decimal(), decimal(), decimal(), decimal(), bound(), decimal());
  }

  private @Nullable Bound bound() {
    String label = text();
    return label == null ? null : needed(BOUNDS.get(label));
  }

  /** An array of fixed members; null where there is none. */
  private <T> @Nullable T array(Supplier<T> members) {
    if (!isNext(JsonToken.START_ARRAY)) return null;
    T read = members.get();
    if (!ended && parser.nextToken() != JsonToken.END_ARRAY) throw wrong();
    return read;
  }

  /** Whether the next token is this one, and not null. */
  private boolean isNext(JsonToken wanted) {
    JsonToken token = parser.nextToken();
    if (token == JsonToken.VALUE_NULL) return false;
    if (token != wanted) throw wrong();
    return true;
  }

  private List<OfBaseline> baselines() {
    if (!isNext(JsonToken.START_ARRAY)) return List.of();
    List<OfBaseline> all = new ArrayList<>();
    while (parser.nextToken() == JsonToken.START_ARRAY) {
      all.add(new OfBaseline(needed(text()), decimal()));
      if (parser.nextToken() != JsonToken.END_ARRAY) throw wrong();
    }
    if (parser.currentToken() != JsonToken.END_ARRAY) throw wrong();
    return all;
  }

  private List<String> texts() {
    if (!isNext(JsonToken.START_ARRAY)) return List.of();
    List<String> all = new ArrayList<>();
    while (parser.nextToken() == JsonToken.VALUE_STRING) all.add(parser.getString());
    if (parser.currentToken() != JsonToken.END_ARRAY) throw wrong();
    return all;
  }

  private Map<String, String> conditions() {
    if (!isNext(JsonToken.START_OBJECT)) return Map.of();
    Map<String, String> all = new TreeMap<>();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      all.put(name, needed(text()));
    }
    if (parser.currentToken() != JsonToken.END_OBJECT) throw wrong();
    return all;
  }

  private @Nullable String text() {
    return isNext(JsonToken.VALUE_STRING) ? parser.getString() : null;
  }

  private @Nullable Integer integer() {
    return isNext(JsonToken.VALUE_NUMBER_INT) ? (Integer) parser.getIntValue() : null;
  }

  private @Nullable Double decimal() {
    JsonToken token = parser.nextToken();
    if (token == JsonToken.VALUE_NULL) return null;
    // As Jackson writes what is not finite.
    if (token == JsonToken.VALUE_STRING) return Double.valueOf(parser.getString());
    if (token == null || !token.isNumeric()) throw wrong();
    return parser.getDoubleValue();
  }

  /** An end of an interval; 0 for that of a published speedup, which has none. */
  private double end() {
    Double end = decimal();
    return end == null ? 0 : end;
  }

  private @Nullable Boolean flag() {
    JsonToken token = parser.nextToken();
    if (token == JsonToken.VALUE_NULL) return null;
    if (token != JsonToken.VALUE_TRUE && token != JsonToken.VALUE_FALSE) throw wrong();
    return token == JsonToken.VALUE_TRUE;
  }

  private <T> T needed(@Nullable T value) {
    if (value == null) throw wrong();
    return value;
  }

  private StreamReadException wrong() {
    return new StreamReadException(
        parser, "no brief verdict at " + Objects.toString(parser.currentToken()));
  }
}

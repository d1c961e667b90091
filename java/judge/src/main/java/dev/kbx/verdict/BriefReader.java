package dev.kbx.verdict;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

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
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.ObjectReader;

/**
 * Reads {@link BriefVerdict}s from their JSON, in the order of the components. What occurs again
 * and again, such as tasks, devices and conditions, is parsed once and shared: of a hundred
 * thousand verdicts, making objects of all of it takes longer than the rest, and most of the
 * memory.
 *
 * <p>Not thread-safe. A text that is no verdict is a {@link tools.jackson.core.JacksonException}.
 */
public final class BriefReader {
  private static final ObjectReader TEXT = Json.mapper().readerFor(String.class);
  private static final ObjectReader TEXTS =
      Json.mapper().readerFor(new TypeReference<List<@Nullable String>>() {});
  private static final ObjectReader CONDITIONS =
      Json.mapper().readerFor(new TypeReference<TreeMap<String, String>>() {});
  private static final ObjectReader STATUS = Json.mapper().readerFor(Status.class);
  private static final ObjectReader STAGE = Json.mapper().readerFor(Stage.class);
  private static final ObjectReader BOUND = Json.mapper().readerFor(Bound.class);

  private final Shared<String> names = new Shared<>(TEXT::readValue);
  private final Shared<List<String>> lists = new Shared<>(TEXTS::readValue);
  private final Shared<Map<String, String>> conditions = new Shared<>(CONDITIONS::readValue);
  private final Shared<Device> devices = new Shared<>(BriefReader::device);
  private final Shared<Status> statuses = new Shared<>(STATUS::readValue);
  private final Shared<Stage> stages = new Shared<>(STAGE::readValue);
  private final Shared<Bound> bounds = new Shared<>(BOUND::readValue);

  private byte[] json = {};
  private int at;

  /** The verdict of a text in UTF-8. */
  public BriefVerdict read(byte[] text) {
    json = text;
    at = 0;
    return needed(array(this::verdict));
  }

  /** Arguments are evaluated in their order. */
  private BriefVerdict verdict() {
    return new BriefVerdict(
        needed(names.next()),
        or(text(), ""), // A published result may have no source.
        needed(text()),
        needed(names.next()),
        needed(names.next()),
        needed(names.next()),
        needed(integer()),
        names.next(),
        names.next(),
        integer(),
        or(conditions.next(), Map.of()),
        needed(statuses.next()),
        needed(stages.next()),
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
        names.next(),
        array(() ->
            new SourceFeatures(
                needed(names.next()), needed(integer()), needed(integer()), texts())),
        decimal(),
        needed(devices.next()),
        array(() -> new Speedup(needed(decimal()), end(), end(), needed(names.next()))),
        baselines(),
        array(() ->
            new Sizes(texts(), needed(decimal()), decimal(), array(this::efficiency), decimal())),
        // Those that earlier versions have stored end before it.
        next() != ']' && needed(flag()));
  }

  private Efficiency efficiency() {
    return new Efficiency(
        needed(names.next()),
        decimal(),
        decimal(),
        decimal(),
        decimal(),
        decimal(),
        bounds.next(),
        decimal());
  }

  private static Device device(byte[] text) {
    List<@Nullable String> of = TEXTS.readValue(text);
    String kind = of.size() == 5 ? of.get(0) : null;
    String name = kind == null ? null : of.get(1);
    if (kind == null || name == null) throw wrong("device");
    return new Device(kind, name, of.get(2), of.get(3), of.get(4));
  }

  private List<OfBaseline> baselines() {
    List<OfBaseline> all =
        array(() -> {
          if (next() == ']') return List.of();
          OfBaseline first = baseline();
          if (next() == ']') return List.of(first);
          List<OfBaseline> several = new ArrayList<>(List.of(first));
          while (next() != ']') several.add(baseline());
          return several;
        });
    return or(all, List.of());
  }

  private OfBaseline baseline() {
    return needed(array(() -> new OfBaseline(needed(names.next()), decimal())));
  }

  private List<String> texts() {
    return or(lists.next(), List.of());
  }

  /** An array of fixed members; null where there is none. */
  private <T> @Nullable T array(Supplier<T> members) {
    if (isNull()) return null;
    expect('[');
    T read = members.get();
    next();
    expect(']');
    return read;
  }

  /** A text that few others have. */
  private @Nullable String text() {
    if (isNull()) return null;
    int from = at;
    boolean plain = skipText();
    return plain
        ? new String(json, from + 1, at - from - 2, ISO_8859_1)
        : TEXT.readValue(json, from, at - from);
  }

  private @Nullable Integer integer() {
    Double value = decimal();
    if (value == null) return null;
    if (value != value.intValue()) throw wrong("integer");
    return value.intValue();
  }

  private @Nullable Double decimal() {
    if (isNull()) return null;
    // As Jackson writes what is not finite.
    if (json[at] == '"') return Double.valueOf(needed(text()));
    int from = at;
    while (at < json.length && !isEnd(json[at])) at++;
    try {
      return Double.parseDouble(new String(json, from, at - from, ISO_8859_1));
    } catch (NumberFormatException _) {
      throw wrong("a number");
    }
  }

  /** An end of an interval; 0 for that of a published speedup, which has none. */
  private double end() {
    return or(decimal(), 0.0);
  }

  private @Nullable Boolean flag() {
    if (isNull()) return null;
    boolean value = json[at] == 't';
    literal(value ? "true" : "false");
    return value;
  }

  private boolean isNull() {
    if (next() != 'n') return false;
    literal("null");
    return true;
  }

  private void literal(String word) {
    for (int i = 0; i < word.length(); i++) expect(word.charAt(i));
  }

  private void expect(char wanted) {
    if (at >= json.length || json[at++] != wanted) throw wrong("'%s'".formatted(wanted));
  }

  /** Goes to the next value, or end of an array; returns its first character. */
  private int next() {
    while (at < json.length && (json[at] <= ' ' || json[at] == ',')) at++;
    if (at == json.length) throw wrong("its end");
    return json[at];
  }

  /** Goes behind the value that begins here. */
  private void skip() {
    int depth = 0;
    do {
      switch (next()) {
        case '"' -> skipText();
        case '[', '{' -> {
          depth++;
          at++;
        }
        case ']', '}' -> {
          depth--;
          at++;
        }
        default -> at++;
      }
    } while (depth > 0);
  }

  private static boolean isEnd(byte c) {
    return c == ',' || c == ']' || c == '}' || c <= ' ';
  }

  /** Goes behind the text that begins here; returns whether it is ASCII as it stands. */
  private boolean skipText() {
    expect('"');
    boolean plain = true;
    while (at < json.length && json[at] != '"') {
      boolean escape = json[at] == '\\';
      if (escape || json[at] < 0) plain = false;
      at += escape ? 2 : 1;
    }
    expect('"');
    return plain;
  }

  private static <T> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  private static <T> T needed(@Nullable T value) {
    if (value == null) throw wrong("a value");
    return value;
  }

  private static StreamReadException wrong(String wanted) {
    return new StreamReadException((JsonParser) null, "no brief verdict: it lacks " + wanted);
  }

  /** Values by the JSON that they are read from: a hash table with linear probing. */
  private final class Shared<T> {
    private final Function<byte[], T> parser;
    private byte[][] texts = new byte[256][];
    private @Nullable Object[] values = new Object[256];
    private int size;

    Shared(Function<byte[], T> parser) {
      this.parser = parser;
    }

    /** The next value. */
    @SuppressWarnings("unchecked") // Only what the parser returned is put there.
    @Nullable T next() {
      if (isNull()) return null;
      int from = at;
      skip();
      int slot = slot(json, from, at);
      if (texts[slot] != null) return (T) values[slot];
      byte[] text = Arrays.copyOfRange(json, from, at);
      T value = needed(parser.apply(text));
      if (2 * ++size > texts.length) {
        grow();
        slot = slot(text, 0, text.length);
      }
      texts[slot] = text;
      values[slot] = value;
      return value;
    }

    /** The slot of a text, or the free one where it belongs. */
    private int slot(byte[] in, int from, int to) {
      int hash = 0;
      for (int i = from; i < to; i++) hash = 31 * hash + in[i];
      int mask = texts.length - 1;
      int slot = (hash ^ hash >>> 16) & mask;
      while (texts[slot] != null
          && !Arrays.equals(texts[slot], 0, texts[slot].length, in, from, to)) {
        slot = (slot + 1) & mask;
      }
      return slot;
    }

    private void grow() {
      byte[][] before = texts;
      @Nullable Object[] kept = values;
      texts = new byte[2 * before.length][];
      values = new Object[texts.length];
      for (int i = 0; i < before.length; i++) {
        if (before[i] == null) continue;
        int slot = slot(before[i], 0, before[i].length);
        texts[slot] = before[i];
        values[slot] = kept[i];
      }
    }
  }
}

package dev.kbx.paper;

import dev.kbx.document.Text;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Records as CSV (RFC 4180), a column for each component. Null is an empty field, an empty text
 * {@code ""}.
 */
final class Csv<R extends Record> {
  /** What formulas begin with, also in the wide forms that some spreadsheets read. */
  private static final String FORMULA = "[=+\\-@＝＋－＠]";

  private static final Pattern FIRST = Pattern.compile("^(?=[\t\r\n]| *" + FORMULA + ")");

  /** A spreadsheet may be told to split at others than commas; quotes mean nothing then. */
  private static final Pattern LATER =
      Pattern.compile("(?<=[;\t\r\n])([ \"]*+)(?=" + FORMULA + ")");

  private final RecordComponent[] columns;
  private final Writer writer;

  /** Writes the head. */
  Csv(Class<R> type, Writer writer) {
    this.columns = type.getRecordComponents();
    this.writer = writer;
    line(
        Arrays.stream(columns)
            .map(column -> column(column.getName()))
            .collect(Collectors.joining(",")));
  }

  void write(R row) {
    line(
        Arrays.stream(columns)
            .map(column -> field(value(column, row)))
            .collect(Collectors.joining(",")));
  }

  /** {@code callOk} as {@code call_ok}. */
  static String column(String component) {
    return component.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }

  private static @Nullable Object value(RecordComponent column, Record row) {
    try {
      return column.getAccessor().invoke(row);
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String field(@Nullable Object value) {
    if (value == null) return "";
    String text = value instanceof String given ? harmless(given) : value.toString();
    boolean plain = !text.isEmpty() && text.chars().noneMatch(c -> "\",\r\n".indexOf(c) >= 0);
    return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
  }

  /**
   * The text as no formula, which a spreadsheet would evaluate, and without control characters. The
   * apostrophe before it is what spreadsheets themselves write before a text.
   */
  private static String harmless(String text) {
    String later = LATER.matcher(Text.visible(text)).replaceAll("$1'");
    return FIRST.matcher(later).replaceFirst("'");
  }

  private void line(String text) {
    try {
      writer.write(text);
      writer.write("\r\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

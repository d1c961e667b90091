package dev.kbx.paper;

import dev.kbx.document.Text;
import dev.kbx.verdict.Field;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Rows as CSV (RFC 4180). Null is an empty field, an empty text {@code ""}. */
final class Csv<T> {
  /** What formulas begin with, also in the wide forms that some spreadsheets read. */
  private static final String FORMULA = "[=+\\-@＝＋－＠]";

  private static final Pattern FIRST = Pattern.compile("^(?=[\t\r\n]| *" + FORMULA + ")");

  /** A spreadsheet may be told to split at others than commas; quotes mean nothing then. */
  private static final Pattern LATER =
      Pattern.compile("(?<=[;\t\r\n])([ \"]*+)(?=" + FORMULA + ")");

  private final List<Field<T>> columns;
  private final Writer writer;

  /** Writes the head. */
  Csv(List<Field<T>> columns, Writer writer) {
    this.columns = columns;
    this.writer = writer;
    line(Field::name);
  }

  void write(T row) {
    line(column -> field(column.value().of(row)));
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

  private void line(Function<Field<T>, String> cell) {
    try {
      writer.write(columns.stream().map(cell).collect(Collectors.joining(",", "", "\r\n")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package dev.kbx.paper;

import dev.kbx.document.Text;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.paper.Columns.TimedSize;
import dev.kbx.verdict.Field;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All verdicts and all timed sizes, as two files of one schema in CSV or Parquet: {@code verdicts}
 * and {@code sizes}. Verdicts are written as they are read; none is kept.
 */
public final class DataFiles {
  private static final List<Field<Verdict>> VERDICTS = flat(Columns.VERDICTS);
  private static final List<Field<TimedSize>> SIZES = flat(Columns.SIZES);

  private final Path folder;

  /**
   * Creates the folder if necessary.
   *
   * @throws UnwritableException as other methods do
   */
  public DataFiles(Path folder) {
    this.folder = folder;
    UnwritableException.naming(folder, () -> Files.createDirectories(folder));
  }

  private static <T> List<Field<T>> flat(List<Field<T>> columns) {
    return columns.stream().map(Field::flat).toList();
  }

  /** Whether Parquet can be written: its library is not in the bundle for GPU nodes. */
  public static boolean hasParquet() {
    try {
      var _ = Class.forName("com.jerolba.carpet.CarpetWriter");
      return true;
    } catch (ClassNotFoundException _) {
      return false;
    }
  }

  /** Passes verdicts to a reader, one by one. */
  public interface Verdicts {
    void forEach(Consumer<Verdict> reader);
  }

  /** Writes {@code verdicts.csv} and {@code sizes.csv}. */
  public void csv(Verdicts verdicts) {
    AtomicFile.replace(
        folder.resolve("verdicts.csv"),
        first ->
            AtomicFile.replace(
                folder.resolve("sizes.csv"),
                second -> {
                  Csv<Verdict> rows = new Csv<>(VERDICTS, first);
                  Csv<TimedSize> sizes = new Csv<>(SIZES, second);
                  verdicts.forEach(verdict -> {
                    rows.write(verdict);
                    TimedSize.of(verdict).forEach(sizes::write);
                  });
                }));
  }

  /** Writes, if {@link #hasParquet}, {@code verdicts.parquet} and {@code sizes.parquet}. */
  public void parquet(Verdicts verdicts) {
    AtomicFile.replaceBytes(
        folder.resolve("verdicts.parquet"),
        first ->
            AtomicFile.replaceBytes(
                folder.resolve("sizes.parquet"),
                second -> {
                  try (ParquetRows<Verdict> rows =
                          new ParquetRows<>(Verdict.class, VERDICTS, Columns.SCHEMA, first);
                      ParquetRows<TimedSize> sizes =
                          new ParquetRows<>(TimedSize.class, SIZES, Columns.SCHEMA, second)) {
                    verdicts.forEach(verdict -> {
                      rows.write(verdict);
                      TimedSize.of(verdict).forEach(sizes::write);
                    });
                  }
                }));
  }

  /** Rows as CSV (RFC 4180). Null is an empty field, an empty text {@code ""}. */
  static final class Csv<T> {
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
     * The text as no formula, which a spreadsheet would evaluate, and without control characters.
     * The apostrophe before it is what spreadsheets themselves write before a text.
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
}

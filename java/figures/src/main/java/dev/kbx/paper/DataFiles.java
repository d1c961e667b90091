package dev.kbx.paper;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.paper.Columns.TimedSize;
import dev.kbx.verdict.Field;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

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
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UnwritableException(folder, e);
    }
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
}

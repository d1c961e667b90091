package dev.kbx.paper;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * All verdicts and all timed sizes, as two files of one schema in CSV or Parquet: {@code verdicts}
 * and {@code sizes}. Verdicts are written as they are read; none is kept.
 */
public final class DataFiles {
  /** Version of the columns; a change of meaning or the loss of a column raises it. */
  static final int SCHEMA = 1;

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
                  Csv<VerdictColumns> rows = new Csv<>(VerdictColumns.class, first);
                  Csv<SizeColumns> sizes = new Csv<>(SizeColumns.class, second);
                  verdicts.forEach(verdict -> {
                    rows.write(VerdictColumns.of(verdict));
                    SizeColumns.of(verdict).forEach(sizes::write);
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
                  try (ParquetRows<VerdictColumns> rows =
                          new ParquetRows<>(VerdictColumns.class, first);
                      ParquetRows<SizeColumns> sizes =
                          new ParquetRows<>(SizeColumns.class, second)) {
                    verdicts.forEach(verdict -> {
                      rows.write(VerdictColumns.of(verdict));
                      SizeColumns.of(verdict).forEach(sizes::write);
                    });
                  }
                }));
  }
}

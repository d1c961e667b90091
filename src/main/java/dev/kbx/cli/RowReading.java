package dev.kbx.cli;

import dev.kbx.analysis.VerdictRow;
import dev.kbx.store.StoredRow;
import dev.kbx.verdict.BriefVerdict;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Converts stored verdicts to rows on a thread of its own, while the caller reads the next ones
 * from the database: of many verdicts, each takes about half of the time.
 */
final class RowReading implements AutoCloseable {
  private static final int CHUNK = 1_000;

  private final int expected;
  private final BiConsumer<VerdictRow, BriefVerdict> reader;
  private final VerdictRow.Reader converter = new VerdictRow.Reader();
  private final List<VerdictRow> rows = new ArrayList<>();
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private List<StoredRow> chunk = new ArrayList<>(CHUNK);
  private @Nullable Future<?> running;
  private int added;

  /**
   * @param expected number of verdicts: after the last one nothing is left to convert, so that a
   *     verdict that cannot be read is reported by {@link #add}
   * @param reader gets each verdict with its row, on another thread
   */
  RowReading(int expected, BiConsumer<VerdictRow, BriefVerdict> reader) {
    this.expected = expected;
    this.reader = reader;
  }

  /** Takes the next verdict. Throws what an earlier one's conversion threw. */
  void add(StoredRow stored) {
    chunk.add(stored);
    added++;
    if (chunk.size() == CHUNK || added >= expected) convert();
    if (added >= expected) await();
  }

  /** All rows, in order. */
  List<VerdictRow> rows() {
    convert();
    await();
    return rows;
  }

  private void convert() {
    await();
    List<StoredRow> full = chunk;
    chunk = new ArrayList<>(CHUNK);
    running = thread.submit(() -> full.forEach(this::convert));
  }

  private void convert(StoredRow stored) {
    BriefVerdict verdict = stored.verdict();
    VerdictRow row = converter.row(verdict);
    rows.add(row);
    reader.accept(row, verdict);
  }

  private void await() {
    if (running == null) return;
    try {
      running.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) throw cause;
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while reading verdicts", e);
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}

package dev.kbx.cli;

import dev.kbx.analysis.VerdictRow;
import dev.kbx.store.StoredRow;
import dev.kbx.verdict.BriefVerdict;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

/**
 * Converts stored verdicts to rows. They are parsed on other threads while the caller reads the
 * next ones from the database: of many verdicts, that takes most of the time.
 */
final class RowReading implements AutoCloseable {
  private static final int CHUNK = 1_000;

  /** Chunks that are parsed while the next one is read: what bounds the memory. */
  private static final int AHEAD = 4;

  private final int expected;
  private final BiConsumer<VerdictRow, BriefVerdict> reader;
  private final VerdictRow.Reader converter = new VerdictRow.Reader();
  private final List<VerdictRow> rows = new ArrayList<>();
  private final ExecutorService threads =
      Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
  private final Queue<Future<List<BriefVerdict>>> parsing = new ArrayDeque<>();
  private List<StoredRow> chunk = new ArrayList<>(CHUNK);
  private int added;

  /**
   * @param expected number of verdicts: after the last one nothing is left to parse, so that a
   *     verdict that cannot be read is reported by {@link #add}
   * @param reader gets each verdict with its row, in order
   */
  RowReading(int expected, BiConsumer<VerdictRow, BriefVerdict> reader) {
    this.expected = expected;
    this.reader = reader;
  }

  /** Takes the next verdict. Throws what the parsing of an earlier one threw. */
  void add(StoredRow stored) {
    chunk.add(stored);
    added++;
    if (chunk.size() == CHUNK) parse();
    convert(added >= expected ? 0 : AHEAD);
  }

  /** All rows, in order. */
  List<VerdictRow> rows() {
    convert(0);
    return rows;
  }

  private void parse() {
    List<StoredRow> full = chunk;
    chunk = new ArrayList<>(CHUNK);
    parsing.add(threads.submit(() -> full.stream().map(StoredRow::verdict).toList()));
  }

  /** Converts what was parsed until that many chunks are left. */
  private void convert(int left) {
    if (left == 0 && !chunk.isEmpty()) parse();
    while (parsing.size() > left) {
      for (BriefVerdict verdict : parsed(parsing.remove())) {
        VerdictRow row = converter.row(verdict);
        rows.add(row);
        reader.accept(row, verdict);
      }
    }
  }

  private static List<BriefVerdict> parsed(Future<List<BriefVerdict>> chunk) {
    try {
      return chunk.get();
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
    threads.shutdownNow();
  }
}

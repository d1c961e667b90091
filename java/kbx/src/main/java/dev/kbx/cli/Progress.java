package dev.kbx.cli;

import dev.kbx.app.Observer;
import dev.kbx.document.Counted;
import dev.kbx.document.Text;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.PrintStream;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Progress of a run on stderr: on a terminal one live line with rate, time left and tallies; else a
 * line for each verdict, and one with rate and time left twice a minute.
 */
final class Progress implements Observer.Judging {

  /** Minimum time between redraws: twenty a second. */
  private static final long REDRAW_NANOS = 50_000_000;

  private static final long REPORT_NANOS = 30_000_000_000L;

  private final PrintStream out;
  private final boolean live;
  private final LiveLine line;
  private final int total;
  private final Supplier<String> where;
  private final LongSupplier nanoTime;
  private final long start;
  private final Map<Status, Integer> tallies = new EnumMap<>(Status.class);
  private int done;
  private int judged;
  private long drawn;

  /**
   * @param where says what judges now, if that may change; else empty
   */
  Progress(
      PrintStream out, boolean live, int columns, int total, int done, Supplier<String> where) {
    this(out, live, columns, total, done, where, System::nanoTime);
  }

  Progress(
      PrintStream out,
      boolean live,
      int columns,
      int total,
      int done,
      Supplier<String> where,
      LongSupplier nanoTime) {
    this.where = where;
    this.nanoTime = nanoTime;
    this.start = nanoTime.getAsLong();
    this.drawn = start;
    this.out = out;
    this.live = live;
    this.line = new LiveLine(out, columns);
    this.total = total;
    this.done = done;
    if (live) draw();
  }

  @Override
  public synchronized void verdict(Verdict verdict) {
    done++;
    judged++;
    tallies.merge(verdict.judgement().status(), 1, Integer::sum);
    long since = nanoTime.getAsLong() - drawn;
    if (live) {
      if (done == total || since >= REDRAW_NANOS) draw();
      return;
    }
    out.print(line(verdict));
    if (done < total && since >= REPORT_NANOS) {
      out.printf("kbx: %d of %d, %s%n", done, total, pace());
    }
  }

  /** One string, as the stream is unbuffered. */
  private String line(Verdict verdict) {
    String message =
        verdict.judgement().message() == null
            ? ""
            : "  " + firstLine(verdict.judgement().message());
    return "["
        + done
        + "/"
        + total
        + "] "
        + verdict.judgement().status().label()
        + "  "
        + Text.clean(verdict.provenance().category() + "/" + verdict.provenance().task())
        + "  "
        + Text.clean(verdict.provenance().source())
        + message
        + System.lineSeparator();
  }

  /**
   * Ends the live line, and prints the number of remembered verdicts.
   *
   * @param known number of remembered verdicts
   */
  @Override
  public synchronized void finish(int known) {
    if (live) line.erase();
    if (known > 0) {
      out.printf(
          "kbx: %d of %s from memory: the same source was judged under the same conditions%n",
          known, Counted.of(judged, "verdict"));
    }
    out.flush();
  }

  private void draw() {
    line.draw("%s %d/%d  %s  %s".formatted(bar(), done, total, pace(), tally()));
  }

  /** Rate and time left, as of now. */
  private String pace() {
    drawn = nanoTime.getAsLong();
    double rate = judged / Math.max((drawn - start) / 1e9, 0.001);
    String left = judged == 0 ? "" : ", " + LiveLine.clock((total - done) / rate) + " left";
    String on = where.get().isEmpty() ? "" : " on " + where.get();
    return (rate < 1 ? "%.1f/min" : "%.1f/s").formatted(rate < 1 ? rate * 60 : rate) + left + on;
  }

  private String bar() {
    int width = Math.max(10, line.columns() / 5);
    int full = total == 0 ? width : (int) ((long) width * done / total);
    return "━".repeat(full) + "─".repeat(width - full);
  }

  private String tally() {
    return tallies.entrySet().stream()
        .sorted(Map.Entry.<Status, Integer>comparingByValue().reversed())
        .map(e -> e.getValue() + " " + e.getKey().label())
        .collect(Collectors.joining(" · "));
  }

  private static String firstLine(String text) {
    String line = Text.clean(text.lines().findFirst().orElse(""));
    return line.length() > 160 ? line.substring(0, 159) + "…" : line;
  }
}

package dev.kbx.report;

import dev.kbx.analysis.MethodRates;
import dev.kbx.analysis.TaskShare;
import dev.kbx.stats.Rate;
import java.io.IOException;
import java.io.Writer;
import org.jspecify.annotations.Nullable;

/** A cell of a table with a share: count, bar, percent and interval. */
final class RateCell {
  private RateCell() {}

  /**
   * Writes a cell.
   *
   * @param unknown what to say without a rate
   */
  static void write(Writer writer, String name, @Nullable Rate rate, String unknown)
      throws IOException {
    if (rate == null) {
      none(writer, name, unknown);
      return;
    }
    write(writer, name, rate.passes() + "/" + rate.total(), rate.value(), rate.low(), rate.high());
  }

  static void write(Writer writer, String name, @Nullable TaskShare share) throws IOException {
    if (share == null) none(writer, name, "–");
    else
      write(
          writer,
          name,
          share.passes() + "/" + share.total(),
          share.value(),
          share.low(),
          share.high());
  }

  /** The mean share of samples; of one sample a task it is a count of tasks. */
  static void write(Writer writer, String name, MethodRates.Share share, boolean samples)
      throws IOException {
    if (share.share() == null) none(writer, name, "not known");
    else
      write(
          writer,
          name,
          samples ? "" : share.passes() + "/" + share.tasks(),
          share.share(),
          share.low(),
          share.high());
  }

  static void none(Writer writer, String name, String unknown) throws IOException {
    writer.write("<td data-name=\"" + name + "\" class=\"unknown\">" + unknown + "</td>");
  }

  private static void write(
      Writer writer,
      String name,
      String count,
      double value,
      @Nullable Double low,
      @Nullable Double high)
      throws IOException {
    writer.write("<td data-name=\"" + name + "\"><span class=\"rate\"><b>" + count + "</b>");
    writer.write(Bar.of(value, low, high) + "<span>" + Bar.percent(value) + "</span>");
    if (low != null && high != null) {
      writer.write("<small>" + Bar.interval(low, high) + "</small>");
    }
    writer.write("</span></td>");
  }
}

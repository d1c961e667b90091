package dev.kbx.cli;

import java.io.PrintStream;

/** One line of a terminal that is redrawn in place. */
final class LiveLine {
  private static final String ERASE = "\r\033[K";

  private final PrintStream out;
  private final int columns;

  LiveLine(PrintStream out, int columns) {
    this.out = out;
    this.columns = columns;
  }

  int columns() {
    return columns;
  }

  /** Draws a text in place of the last one, cut to the terminal's width. */
  void draw(String text) {
    out.print(ERASE + (text.length() > columns - 1 ? text.substring(0, columns - 1) : text));
    out.flush();
  }

  void erase() {
    out.print(ERASE);
  }

  /** Seconds as {@code minutes:seconds}. */
  static String clock(double seconds) {
    long whole = Math.round(seconds);
    return "%d:%02d".formatted(whole / 60, whole % 60);
  }
}

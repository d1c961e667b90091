package dev.kbx.cli;

import java.io.PrintStream;

/** One line of a terminal that is redrawn in place. */
final class LiveLine {
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
    TerminalStream.erase(out);
    out.print(text.length() > columns - 1 ? text.substring(0, columns - 1) : text);
    out.flush();
  }

  void erase() {
    TerminalStream.erase(out);
  }

  /** Seconds as {@code minutes:seconds}. */
  static String clock(double seconds) {
    long whole = Math.round(seconds);
    return "%d:%02d".formatted(whole / 60, whole % 60);
  }
}

package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.NoiseFloors;
import dev.kbx.document.Document;
import dev.kbx.document.Section;
import dev.kbx.document.TerminalRenderer;
import dev.kbx.python.TextProgress;
import java.io.PrintStream;

/**
 * Properties of the terminal, as determined by the launcher; a JVM is slow at it and cannot tell
 * stdin from stdout.
 */
public final class Terminal {
  private static final int DEFAULT_COLUMNS = 100;

  private Terminal() {}

  /** How a shell starts kbx as the user did: the first word of commands to be copied. */
  static String program() {
    return word(System.getProperty("kbx.program", "kbx"));
  }

  /** A text as one word of a shell. */
  static String word(String text) {
    return text.matches("[\\w./:@%+,=-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
  }

  /** Whether stderr is a terminal, on which a line can be redrawn. */
  static boolean interactive() {
    return Boolean.getBoolean("kbx.stderr.tty");
  }

  /** Whether stdout is a terminal. */
  static boolean shown() {
    return Boolean.getBoolean("kbx.stdout.tty");
  }

  /** Whether stdout is a terminal that shows colours. */
  static boolean colours() {
    return shown() && System.getenv("NO_COLOR") == null;
  }

  /** Prints a line on stderr that says who does: for people. */
  static void say(String line) {
    System.err.println("kbx: " + line);
  }

  /** The noise floors of this installation; says on stderr which cannot be read. */
  static NoiseFloors noiseFloors() {
    return NoiseFloors.kept(Home.here(), new TerminalObserver());
  }

  /** Progress of an installation on stderr. */
  static TextProgress installing() {
    PrintStream err = System.err;
    return new TextProgress(err, interactive() ? () -> TerminalStream.erase(err) : null);
  }

  /** A section as it is shown, ending in a line break. */
  public static String text(Section section) {
    return new TerminalRenderer(columns()).render(Document.of(section));
  }

  /** Where a line that is wider than some columns ends, before a blank; 0 where it fits. */
  static int lineEnd(String text, int width) {
    if (text.length() <= width) return 0;
    int end = text.lastIndexOf(' ', width);
    return end > 0 ? end : Math.max(0, text.indexOf(' '));
  }

  /** Width of the terminal in characters. */
  static int columns() {
    int columns = Integer.getInteger("kbx.columns", DEFAULT_COLUMNS);
    return columns < 40 ? DEFAULT_COLUMNS : columns;
  }
}

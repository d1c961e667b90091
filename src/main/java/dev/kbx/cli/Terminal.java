package dev.kbx.cli;

/**
 * What the launcher found out about the terminal; a JVM asks too slowly and only about stdin and
 * stdout together.
 */
final class Terminal {
  private static final int DEFAULT_COLUMNS = 100;

  private Terminal() {}

  /** Whether stderr is a terminal, so that a line may be drawn over. */
  static boolean interactive() {
    return Boolean.getBoolean("kbx.stderr.tty");
  }

  /** Whether somebody looks at stdout; otherwise it is read by a program. */
  static boolean shown() {
    return Boolean.getBoolean("kbx.stdout.tty");
  }

  /** Whether stdout is a terminal that shows colours. */
  static boolean colours() {
    return shown() && System.getenv("NO_COLOR") == null;
  }

  /** Width of the terminal in characters. */
  static int columns() {
    int columns = Integer.getInteger("kbx.columns", DEFAULT_COLUMNS);
    return columns < 40 ? DEFAULT_COLUMNS : columns;
  }
}

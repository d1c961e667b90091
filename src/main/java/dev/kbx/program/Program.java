package dev.kbx.program;

import dev.kbx.syntax.PythonSource;

/** A program as its syntax tree shows it, with its names resolved. Immutable. */
public final class Program {
  private final PythonSource source;

  private Program(PythonSource source) {
    this.source = source;
  }

  public static Program of(PythonSource source) {
    return new Program(source);
  }

  /** The source that this was read from. */
  public PythonSource source() {
    return source;
  }
}

package dev.kbx.syntax;

import dev.kbx.syntax.PythonSource.SyntaxError;
import java.util.Optional;

/** Says whether source is valid Python. Safe for several threads. */
public interface SyntaxCheck extends AutoCloseable {
  /**
   * The parser alone, for a machine without Python. It refuses a few valid constructs, and accepts
   * what Python only finds after parsing, such as {@code return} outside a function.
   */
  SyntaxCheck PARSER = PythonSource::error;

  /** The first error; empty for valid source, and in doubt. */
  Optional<SyntaxError> error(PythonSource source);

  /** The error of source that the parser refuses; asks nobody about other source. */
  default Optional<SyntaxError> confirmed(PythonSource source) {
    return source.error().isEmpty() ? Optional.empty() : error(source);
  }

  /** Gives back what the check holds; it can still be asked. */
  @Override
  default void close() {}
}

package dev.kbx.candidate;

import dev.kbx.syntax.PythonSource;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A candidate's Python source: in memory, or in its file. A run may queue a hundred thousand
 * candidates; only those being judged are in memory.
 */
public sealed interface Source permits Source.Text, Prediction {

  /**
   * The source in memory; every call reads it if it is not.
   *
   * @throws ChangedFile if its file no longer contains it
   */
  Text held();

  /** A checksum that detects accidental changes. */
  int sum();

  /**
   * Source in memory.
   *
   * @param known its syntax tree if it was already parsed; else null
   */
  record Text(String code, @Nullable PythonSource known) implements Source {
    public Text(String code) {
      this(code, null);
    }

    @Override
    public Text held() {
      return this;
    }

    @Override
    public int sum() {
      return Prediction.sum(code.getBytes(StandardCharsets.UTF_8));
    }

    /** Its syntax tree. */
    public PythonSource parsed() {
      return known == null ? PythonSource.parse(code) : known;
    }
  }
}

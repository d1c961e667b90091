package dev.kbx.candidate;

import dev.kbx.syntax.PythonSource;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A candidate's Python source: in memory, or still in the file that it came from. Candidates of a
 * run are queued by the hundred thousand; only those being judged are held.
 */
public sealed interface Source permits Source.Text, Prediction {

  /**
   * The source in memory, read anew by every call where it is not held.
   *
   * @throws ChangedFile when its file no longer holds it
   */
  Text held();

  /** A checksum that tells, against accidents, whether this is what was read before. */
  int sum();

  /**
   * Source in memory.
   *
   * @param known its syntax tree where finding the source took one; null otherwise
   */
  record Text(String code, @Nullable PythonSource known) implements Source {
    Text(String code) {
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

package dev.kbx.candidate;

import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.PythonSource;
import java.nio.charset.StandardCharsets;
import org.apache.commons.codec.digest.DigestUtils;
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

  /** Source in memory, without a byte order mark at its start. */
  final class Text implements Source {
    private final String code;
    private final @Nullable PythonSource known;
    private volatile @Nullable String hash;

    /**
     * @param known its syntax tree if it was already parsed; else null
     */
    Text(String code, @Nullable PythonSource known) {
      this.code = ByteOrderMark.without(code);
      this.known = known;
    }

    public Text(String code) {
      this(code, null);
    }

    public String code() {
      return code;
    }

    /** SHA-256, hex. */
    String hash() {
      String found = hash;
      if (found == null) {
        found = DigestUtils.sha256Hex(code);
        hash = found;
      }
      return found;
    }

    @Override
    public Text held() {
      return this;
    }

    @Override
    public int sum() {
      return Prediction.sum(code.getBytes(StandardCharsets.UTF_8));
    }

    /** The syntax tree. */
    PythonSource parsed() {
      return known == null ? PythonSource.parse(code) : known;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Text text && text.code.equals(code);
    }

    @Override
    public int hashCode() {
      return code.hashCode();
    }

    @Override
    public String toString() {
      return code;
    }
  }
}

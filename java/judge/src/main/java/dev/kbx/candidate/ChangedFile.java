package dev.kbx.candidate;

import dev.kbx.error.EnvironmentException;
import java.nio.file.Path;

/** A file of candidates changed while they were being judged. */
final class ChangedFile extends EnvironmentException {
  private static final long serialVersionUID = 1;

  ChangedFile(Path file, int line, String how) {
    super(
        "%s:%d: %s since the run began; restore the file and go on with --resume"
            .formatted(file, line, how));
  }
}

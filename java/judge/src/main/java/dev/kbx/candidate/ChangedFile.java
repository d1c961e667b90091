package dev.kbx.candidate;

import java.nio.file.Path;

/** A file of candidates changed while they were being judged. */
public final class ChangedFile extends RuntimeException {
  private static final long serialVersionUID = 1;

  ChangedFile(Path file, int line, String how) {
    super(
        "%s:%d: %s since the run began; restore the file and go on with --resume"
            .formatted(file, line, how));
  }
}

package dev.kbx.published;

import java.nio.file.Path;

/** Reads the records of one format. */
interface PublishedReader {
  /** Reads a file or folder. */
  void read(Path path);
}

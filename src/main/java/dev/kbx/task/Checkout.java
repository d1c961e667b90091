package dev.kbx.task;

import java.nio.file.Path;
import java.util.List;

/** Task files of another benchmark where a user has them, to be turned into kbx's format. */
public sealed interface Checkout permits Originals, OriginalLevels {
  /** What became of one file. */
  sealed interface Result {}

  /** Its task file in kbx's own format, which names the original and holds no code of it. */
  record Written(Path original, String category, String name, String text) implements Result {}

  record Unusable(BrokenTask reason) implements Result {}

  /** What holds the categories, or the files themselves where there are none. */
  Path folder();

  /** In the order of the suite. */
  List<Path> files();

  /** Reads one of the files and writes its task file, as far as that is possible without Python. */
  Result write(Path file);

  /** The category of a file, which is the folder that it lies in. */
  static String category(Path file) {
    Path parent = file.getParent();
    Path name = parent == null ? null : parent.getFileName();
    return name == null ? "tasks" : name.toString();
  }
}

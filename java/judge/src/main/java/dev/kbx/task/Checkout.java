package dev.kbx.task;

import dev.kbx.syntax.SyntaxCheck;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A user's checkout of another benchmark, whose task files are converted to kbx's format. */
public sealed interface Checkout permits Originals, OriginalLevels, Definitions {
  /** Result for one file. */
  sealed interface Result {}

  /**
   * A task file in kbx's own format.
   *
   * @param leftOut what of the original is not in it; null where all is
   * @param before lines before the code of the original, where the file holds it; 0 where it only
   *     names the original
   */
  record Written(
      Path original,
      String category,
      String name,
      String text,
      @Nullable String leftOut,
      int before)
      implements Result {
    Written(Path original, String category, String name, String text) {
      this(original, category, name, text, null, 0);
    }
  }

  record Unusable(BrokenTask reason) implements Result {}

  /** The folder of the categories, or of the files if there are no categories. */
  Path folder();

  /** In the order of the suite. */
  List<Path> files();

  /**
   * Reads one of the files and writes its task file, as far as that is possible without running it.
   *
   * @param syntax finds syntax errors
   */
  Result write(Path file, SyntaxCheck syntax);

  /** Throws {@link InvalidSuite} if there is no folder, and says what there is. */
  static void refuseUnlessFolder(Path folder, String benchmark) {
    if (Files.isDirectory(folder)) return;
    String what =
        Files.exists(folder)
            ? "is a file; name the folder of"
            : Files.isSymbolicLink(folder) ? "is a link to nothing; name" : "no such folder; name";
    throw new InvalidSuite("%s: %s a checkout of %s".formatted(folder, what, benchmark));
  }

  /** The category of a file, which is the folder that it lies in. */
  static String category(Path file) {
    Path parent = file.getParent();
    Path name = parent == null ? null : parent.getFileName();
    return name == null ? "tasks" : name.toString();
  }
}

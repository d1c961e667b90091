package dev.kbx.task;

import dev.kbx.syntax.PythonSource;
import dev.kbx.syntax.SyntaxCheck;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The task files of a checkout of the original KernelBench: folders {@code level1}, {@code level2}
 * and so on of files whose names begin with a number, each with a class {@code Model}, {@code
 * get_inputs()} and {@code get_init_inputs()}.
 *
 * @param folder the folder of the levels
 */
public record OriginalLevels(Path folder, List<Path> files) implements Checkout {
  /** Folders of the levels in a checkout, in the order in which they are tried. */
  private static final List<String> PLACES = List.of("KernelBench", "");

  private static final Pattern LEVEL = Pattern.compile("level\\d{1,9}");
  private static final Pattern NUMBERED = Pattern.compile("\\d{1,9}_.*\\.py");
  private static final String MODEL = "Model";

  public OriginalLevels {
    files = List.copyOf(files);
  }

  /**
   * Looks for task files in the root of a checkout, in a folder of levels, or in one level.
   *
   * @throws InvalidSuite if {@code folder} is none of these or cannot be read
   */
  public static OriginalLevels find(Path folder) {
    Checkout.refuseUnlessFolder(folder, "KernelBench");
    for (String place : PLACES) {
      Path root = folder.resolve(place).toAbsolutePath().normalize();
      if (!Files.isDirectory(root)) continue;
      List<Path> files = new ArrayList<>();
      if (isLevel(root)) files.addAll(numbered(root));
      else
        Suites.list(root).stream()
            .filter(OriginalLevels::isLevel)
            .map(OriginalLevels::numbered)
            .forEach(files::addAll);
      if (!files.isEmpty()) return new OriginalLevels(root, files);
    }
    throw new InvalidSuite(
        folder
            + ": holds no task files of KernelBench; name its checkout, or the folder that has"
            + " level1, level2 and so on");
  }

  private static boolean isLevel(Path folder) {
    Path name = folder.getFileName();
    return name != null && LEVEL.matcher(name.toString()).matches() && Files.isDirectory(folder);
  }

  private static List<Path> numbered(Path level) {
    return Suites.list(level).stream()
        .filter(file -> NUMBERED.matcher(file.getFileName().toString()).matches())
        .toList();
  }

  @Override
  public Result write(Path file, SyntaxCheck syntax) {
    String level = Checkout.category(file);
    String base = file.getFileName().toString();
    String name = base.substring(0, base.length() - ".py".length());
    try {
      OriginalText original = OriginalText.read(file);
      PythonSource source = PythonSource.parse(original.text());
      Optional<PythonSource.SyntaxError> error = syntax.confirmed(source);
      if (error.isPresent()) {
        String message = error.get().message() + ": " + error.get().text();
        return unusable(level, name, file, error.get().line(), message);
      }
      if (source.methods(MODEL).isEmpty()) {
        return unusable(level, name, file, null, "defines no class Model with methods");
      }
      return new Written(file, level, name, task(file, level, name, original, source));
    } catch (CharacterCodingException _) {
      return unusable(level, name, file, null, "is not UTF-8");
    } catch (IOException | OutOfMemoryError e) {
      return unusable(level, name, file, null, "cannot be read (" + e.getMessage() + ")");
    }
  }

  private static String task(
      Path file, String level, String name, OriginalText original, PythonSource source) {
    return """
    \"""%s
    \"""

    from kbx.suite.original import OriginalModel

    TAGS = ("imported",)
    DTYPE = "float32"
    FILE = %s
    ORIGINAL = OriginalModel(
        file=FILE,
        sha256=%s,
    )


    %s
    """
        .formatted(
            OriginalText.escaped(statement(level, name)),
            OriginalText.quoted(file.toString()),
            OriginalText.quoted(original.sha256()),
            OriginalText.model(source));
  }

  private static String statement(String level, String name) {
    return """
    `%s/%s` of the original KernelBench: a module that computes what `Model` there computes.

    Sizes are the published ones. Values are what `get_inputs()` draws, under another seed for every call. Results are
    judged by the error model of kbx's own tasks; products and sums of float32 are float32, neither TF32 nor half
    precision.\
    """
        .formatted(level, name);
  }

  private static Result unusable(
      String level, String name, Path file, @Nullable Integer line, String message) {
    return new Unusable(new BrokenTask(level, name, file, line, message));
  }
}

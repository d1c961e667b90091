package dev.kbx.task;

import dev.kbx.syntax.PythonSource;
import dev.kbx.syntax.SyntaxCheck;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The task files of a checkout of the original KernelBench-X, or of its predecessor TritonBench-T:
 * each has a reference, a line of 146 {@code #}, and tests.
 *
 * @param folder the folder of the categories, or of the files if there are no categories
 * @param files in the order of their paths
 */
public record Originals(Path folder, List<Path> files, OriginalMetadata metadata)
    implements Checkout {
  /** Separates reference and tests. */
  static final Pattern SEPARATOR = Pattern.compile("(?m)^[ \\t]*#{146}[ \\t]*\\r?$");

  /** Folders of the task files in a checkout, in the order in which they are tried. */
  private static final List<String> PLACES =
      List.of("data/kernelbenchx", "kernelbenchx", "data/TritonBench_T_v1", "TritonBench_T_v1", "");

  /** Maximum size of a task file. */
  private static final long MOST_BYTES = 1 << 20;

  public Originals {
    files = List.copyOf(files);
  }

  /**
   * Looks for task files in the root of a checkout, in a folder of categories, or in one category's
   * folder.
   *
   * @throws InvalidSuite if {@code folder} is none of these or cannot be read
   */
  public static Originals find(Path folder) {
    Checkout.refuseUnlessFolder(folder, "KernelBench-X");
    for (String place : PLACES) {
      Path root = folder.resolve(place).toAbsolutePath().normalize();
      if (!Files.isDirectory(root)) continue;
      List<Path> files = taskFiles(root);
      if (!files.isEmpty()) return new Originals(root, files, OriginalMetadata.near(root, files));
    }
    throw new InvalidSuite(
        folder
            + ": holds no task files of KernelBench-X; name its checkout, or the folder that has a"
            + " folder per category");
  }

  @Override
  public Result write(Path file, SyntaxCheck syntax) {
    String category = Checkout.category(file);
    return new Conversion(file, category).write(metadata.of(category, file), syntax);
  }

  /** Files of every category that has at least one task; else those of the folder itself. */
  private static List<Path> taskFiles(Path root) {
    List<Path> found = new ArrayList<>();
    for (Path category : Suites.list(root)) {
      if (!Files.isDirectory(category)) continue;
      List<Path> files = sources(category);
      if (files.stream().anyMatch(Originals::divided)) found.addAll(files);
    }
    if (!found.isEmpty()) return found;
    List<Path> own = sources(root);
    return own.stream().anyMatch(Originals::divided) ? own : List.of();
  }

  private static List<Path> sources(Path folder) {
    return Suites.list(folder).stream().filter(file -> file.toString().endsWith(".py")).toList();
  }

  private static boolean divided(Path file) {
    try {
      return Files.size(file) <= MOST_BYTES && SEPARATOR.matcher(Files.readString(file)).find();
    } catch (IOException _) {
      return false; // If other files of the folder are tasks, the import reports this one.
    }
  }

  /**
   * Converts one task file of the original to kbx's format. The new file contains no code of it,
   * but its path; the worker runs the original in place.
   */
  private static final class Conversion {
    private static final Pattern NAME = Pattern.compile("^([A-Za-z_][A-Za-z_0-9.]*)\\(");
    private static final Pattern DTYPE = Pattern.compile("(?:torch\\.)?([a-z]+[0-9]+)");

    private final Path file;
    private final String category;
    private final String name;

    Conversion(Path file, String category) {
      this.file = file;
      this.category = category;
      String base = file.getFileName().toString();
      this.name = base.substring(0, base.length() - ".py".length());
    }

    Result write(OriginalMetadata.Entry said, SyntaxCheck syntax) {
      try {
        return write(OriginalText.read(file), said, syntax);
      } catch (CharacterCodingException _) {
        return unusable(null, "is not UTF-8");
      } catch (IOException | OutOfMemoryError e) {
        return unusable(null, "cannot be read (" + e.getMessage() + ")");
      }
    }

    private Result write(OriginalText original, OriginalMetadata.Entry said, SyntaxCheck syntax) {
      String text = original.text();
      Matcher separator = SEPARATOR.matcher(text);
      if (!separator.find()) return unusable(null, "no line of 146 # divides reference and tests");
      Optional<PythonSource.SyntaxError> error = syntax.confirmed(PythonSource.parse(text));
      if (error.isPresent()) {
        return unusable(error.get().line(), error.get().message() + ": " + error.get().text());
      }
      PythonSource reference = PythonSource.parse(text.substring(0, separator.start()));
      PythonSource.Function entry = entry(reference.functions(), said);
      if (entry == null) {
        int line =
            1 + (int) text.substring(0, separator.start()).chars().filter(c -> c == '\n').count();
        return unusable(
            line,
            "defines no function %s or %s above the line of 146 #"
                .formatted(name, Task.COMMON_ENTRY));
      }
      return new Written(file, category, name, task(original.sha256(), entry, said));
    }

    /**
     * The entry: named as the file, the common entry, the one that the metadata call, or the only
     * function.
     */
    private PythonSource.@Nullable Function entry(
        List<PythonSource.Function> functions, OriginalMetadata.Entry said) {
      Map<String, PythonSource.Function> named = new TreeMap<>();
      functions.forEach(function -> named.put(function.name(), function));
      PythonSource.Function found = named.getOrDefault(name, named.get(Task.COMMON_ENTRY));
      if (found == null && said.entry() != null) {
        Matcher called = NAME.matcher(said.entry());
        if (called.find()) {
          String path = called.group(1);
          found = named.get(path.substring(path.lastIndexOf('.') + 1));
        }
      }
      List<PythonSource.Function> open =
          named.values().stream().filter(function -> !function.name().startsWith("_")).toList();
      return found == null && open.size() == 1 ? open.getFirst() : found;
    }

    private String task(String sha256, PythonSource.Function entry, OriginalMetadata.Entry said) {
      StringBuilder text = new StringBuilder();
      text.append("\"\"\"")
          .append(OriginalText.escaped(statement(entry, said)))
          .append("\n\"\"\"\n\n");
      text.append("from kbx.suite.original import Original\n\n");
      text.append("ENTRY = ").append(OriginalText.quoted(entry.name())).append('\n');
      if (said.difficulty() != null) {
        text.append("DIFFICULTY = ").append(said.difficulty()).append('\n');
      }
      Matcher dtype = DTYPE.matcher(said.dtype() == null ? "" : said.dtype());
      if (dtype.matches())
        text.append("DTYPE = ").append(OriginalText.quoted(dtype.group(1))).append('\n');
      text.append("TAGS = (\"imported\",)\n");
      text.append("ORIGINAL = Original(\n");
      text.append("    file=").append(OriginalText.quoted(file.toString())).append(",\n");
      text.append("    sha256=").append(OriginalText.quoted(sha256)).append(",\n");
      if (!said.thresholds().isEmpty()) {
        text.append("    thresholds={");
        new TreeMap<>(said.thresholds())
            .forEach(
                (key, limit) -> text.append("%s: %s, ".formatted(OriginalText.quoted(key), limit)));
        text.setLength(text.length() - 2);
        text.append("},\n");
      }
      return text.append(")\n\n\ndef ").append(entry.signature()).append(": ...\n").toString();
    }

    private String statement(PythonSource.Function entry, OriginalMetadata.Entry said) {
      StringBuilder text = new StringBuilder();
      String description = said.description();
      if (description == null) {
        description = "`%s` of %s/%s.".formatted(entry.name(), category, file.getFileName());
      }
      text.append(description).append("\n\n");
      if (said.entry() != null) text.append(said.entry()).append("\n\n");
      if (said.math() != null) text.append(said.math()).append("\n\n");
      text.append("A task of the original KernelBench-X, judged on the calls of its own tests");
      boolean thresholds = !said.thresholds().isEmpty();
      return text.append(
              thresholds
                  ? " by its thresholds: " + new TreeMap<>(said.thresholds())
                  : " by its tolerances: float16 and bfloat16 5e-3, float32 and float64 1e-5, all"
                      + " else equal")
          .append(".")
          .toString();
    }

    private Result unusable(@Nullable Integer line, String message) {
      return new Unusable(new BrokenTask(category, name, file, line, message));
    }
  }
}

package dev.kbx.candidate;

import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Finds files with candidates and reads source, independent of tasks. Unusable files are reported
 * and skipped.
 */
public final class SourceFiles {
  /** Separates tests in the original's task files and in answers derived from them. */
  private static final Pattern SEPARATOR = Pattern.compile("(?m)^#{146}[ \\t]*\\r?$");

  private SourceFiles() {}

  /**
   * The {@code .py} and {@code .jsonl} files of a path: itself, or all in a folder, sorted by path.
   * Hidden entries, {@code __pycache__}, {@code __init__.py} and kbx's own results in folders are
   * ignored.
   */
  public static List<Path> in(Path source, Consumer<Problem> problems) {
    return in(source, problems, _ -> false);
  }

  /**
   * The files in a source, ignoring further folders below it.
   *
   * @param passedOver folders to ignore
   */
  static List<Path> in(Path source, Consumer<Problem> problems, Predicate<Path> passedOver) {
    if (!Files.exists(source)) {
      problems.accept(absent(source, "does not exist"));
    } else if (Files.isDirectory(source)) {
      List<Problem> told = new ArrayList<>();
      List<Path> files = list(source, told::add, passedOver);
      told.forEach(problems);
      // If part of the folder is unreadable, it is not reported as empty.
      if (files.isEmpty() && told.isEmpty()) {
        problems.accept(
            problem(source, "holds no candidates; they are task.py files and .jsonl predictions"));
      }
      return files;
    } else if (isCandidate(source) && !Files.isRegularFile(source)) {
      // A pipe may block and can be read only once.
      problems.accept(
          absent(source, "is not a regular file; give a task.py, .jsonl predictions, or a folder"));
    } else if (isResults(source)) {
      problems.accept(
          problem(source, "holds kbx's results, no predictions; give what was judged there"));
    } else if (isCandidate(source)) {
      return List.of(source);
    } else {
      problems.accept(
          problem(source, "is not a candidate; give a task.py, .jsonl predictions, or a folder"));
    }
    return List.of();
  }

  /** The source in a Python file; null after reporting a problem. */
  public static @Nullable String code(Path file, Consumer<Problem> problems) {
    try (InputStream in = Files.newInputStream(file)) {
      return code(in, file.toString(), problems);
    } catch (IOException e) {
      problems.accept(unreadable(file, reason(e)));
      return null;
    }
  }

  /**
   * The source in a stream; null after reporting a problem.
   *
   * @param name name of the stream in messages
   */
  public static @Nullable String code(InputStream in, String name, Consumer<Problem> problems)
      throws IOException {
    byte[] bytes = in.readNBytes(CandidateSources.MAX_CODE + 1);
    int bad = Lines.firstBadByte(bytes);
    if (bytes.length > CandidateSources.MAX_CODE) {
      problems.accept(new Problem(name, null, "is larger than 1 MiB, the limit for a candidate"));
      return null;
    }
    if (bad >= 0) {
      String message = "is not UTF-8 at byte " + bad + "; save it as UTF-8";
      problems.accept(new Problem(name, lineOf(bytes, bad), message, Problem.Kind.UNREADABLE));
      return null;
    }
    String text = new String(bytes, StandardCharsets.UTF_8);
    return withoutTests(ByteOrderMark.without(text));
  }

  /** What comes before the original's separator, below which its tests are. */
  static String withoutTests(String text) {
    Matcher separator = SEPARATOR.matcher(text);
    return separator.find() ? text.substring(0, separator.start()) : text;
  }

  /** Whether a file is Python source; of what {@link #in} finds, the rest are predictions. */
  public static boolean isPython(Path file) {
    return hasExtension(file, ".py");
  }

  private static boolean isCandidate(Path file) {
    return isPython(file) || hasExtension(file, ".jsonl");
  }

  private static boolean isResults(Path file) {
    return hasExtension(file, ".jsonl") && OwnFiles.areResults(file);
  }

  private static boolean hasExtension(Path file, String extension) {
    return file.toString().toLowerCase(Locale.ROOT).endsWith(extension);
  }

  private static List<Path> list(
      Path folder, Consumer<Problem> problems, Predicate<Path> passedOver) {
    List<Path> found = new ArrayList<>();
    try {
      Files.walkFileTree(
          folder,
          EnumSet.of(FileVisitOption.FOLLOW_LINKS),
          Integer.MAX_VALUE,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
              if (dir.equals(folder)) return FileVisitResult.CONTINUE;
              if (isPassedOver(dir) || passedOver.test(dir)) return FileVisitResult.SKIP_SUBTREE;
              if (RunFile.parse(dir.getFileName().toString()).isPresent()) {
                problems.accept(
                    problem(
                        dir,
                        "is a folder with a run file's name; put the kernel's file in its place"));
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              if (!isCandidate(file) || isPassedOver(file)) return FileVisitResult.CONTINUE;
              if (attributes.isSymbolicLink()) {
                problems.accept(unreadable(file, "is a link to nothing; mend or remove it"));
              } else if (attributes.isRegularFile() && !isResults(file)) {
                found.add(file);
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) {
              // The target of a cyclic link is read anyway.
              if (!(e instanceof FileSystemLoopException)) {
                problems.accept(unreadable(file, reason(e)));
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path dir, @Nullable IOException e) {
              if (e != null) problems.accept(unreadable(dir, reason(e)));
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      problems.accept(unreadable(folder, reason(e)));
    }
    found.sort(Comparator.comparing(Path::toString));
    return found;
  }

  private static boolean isPassedOver(Path entry) {
    String name = entry.getFileName().toString();
    return name.startsWith(".") || name.equals("__pycache__") || name.equals("__init__.py");
  }

  private static int lineOf(byte[] bytes, int index) {
    int line = 1;
    for (int i = 0; i < index; i++) if (bytes[i] == '\n') line++;
    return line;
  }

  private static Problem problem(Path file, String message) {
    return new Problem(file.toString(), null, message);
  }

  private static Problem absent(Path source, String message) {
    return new Problem(source.toString(), null, message, Problem.Kind.ABSENT);
  }

  static Problem unreadable(Path file, String message) {
    return new Problem(file.toString(), null, message, Problem.Kind.UNREADABLE);
  }

  static String reason(IOException e) {
    String type = e.getClass().getSimpleName().replace("Exception", "");
    return "cannot be read (" + type.replaceAll("(?<=[a-z])(?=[A-Z])", " ") + ")";
  }

  /**
   * Distinguishes kbx's own results from predictions by content: an output folder may be among the
   * sources.
   */
  private static final class OwnFiles {
    private static final Set<String> VERDICT =
        Set.of("run", "source", "suite", "task", "category", "status", "stage");

    private static final Set<String> TASK_VERDICT =
        Set.of("name", "suite", "category", "ok", "file", "controls");

    private OwnFiles() {}

    /** Whether a JSONL file begins with a verdict, or is where the first one will be written. */
    static boolean areResults(Path file) {
      try {
        if (Files.size(file) == 0) return awaitsVerdicts(file);
        Set<String> keys = firstKeys(file);
        return keys.containsAll(VERDICT) || keys.containsAll(TASK_VERDICT);
      } catch (IOException | JacksonException _) {
        return false; // Reading it will report the error.
      }
    }

    /** A run that was interrupted early leaves its file empty. */
    private static boolean awaitsVerdicts(Path file) {
      return file.getFileName().toString().equals("results.jsonl")
          && Files.isRegularFile(file.resolveSibling("kbx.db"));
    }

    /** Keys of the first object; empty for other content or a prediction. */
    private static Set<String> firstKeys(Path file) throws IOException {
      Set<String> keys = new HashSet<>();
      try (JsonParser json = Json.mapper().createParser(file)) {
        if (json.nextToken() != JsonToken.START_OBJECT) return keys;
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
          if (json.currentName().equals("predict")) return Set.of();
          keys.add(json.currentName());
          json.nextToken();
          json.skipChildren();
        }
      }
      return keys;
    }
  }
}

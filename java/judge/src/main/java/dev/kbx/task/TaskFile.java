package dev.kbx.task;

import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.CodeSize;
import dev.kbx.syntax.Excerpt;
import dev.kbx.syntax.PythonSource;
import dev.kbx.syntax.PythonSource.Constant;
import dev.kbx.syntax.SyntaxCheck;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads one task file: docstring, literal constants, and the {@code def} line of the reference or
 * of the methods of its {@code Model}.
 */
final class TaskFile {
  /** Result of reading a task file. */
  sealed interface Result {}

  record Usable(Task task) implements Result {}

  record Unusable(BrokenTask reason) implements Result {}

  /** The class that a candidate's module replaces. */
  private static final String MODEL = "Model";

  private final String suite;
  private final String category;
  private final Path file;
  private final String name;
  private final SyntaxCheck syntax;

  private TaskFile(String suite, String category, Path file, SyntaxCheck syntax) {
    this.suite = suite;
    this.category = category;
    this.file = file;
    this.syntax = syntax;
    String fileName = file.getFileName().toString();
    this.name = fileName.substring(0, fileName.length() - ".py".length());
  }

  /** Reads a {@code .py} file. Errors become part of the result. */
  static Result read(String suite, String category, Path file, SyntaxCheck syntax) {
    TaskFile reader = new TaskFile(suite, category, file, syntax);
    try {
      return new Usable(reader.task(PythonSource.parse(ByteOrderMark.read(file))));
    } catch (Flaw flaw) {
      return reader.unusable(flaw.line, flaw.message);
    } catch (CharacterCodingException _) {
      return reader.unusable(null, "is not UTF-8");
    } catch (IOException | OutOfMemoryError e) {
      return reader.unusable(null, "cannot be read (" + e.getMessage() + ")");
    }
  }

  private Result unusable(@Nullable Integer line, String message) {
    return new Unusable(new BrokenTask(category, name, file, line, message));
  }

  private Task task(PythonSource source) throws Flaw {
    Optional<PythonSource.SyntaxError> error = syntax.confirmed(source);
    if (error.isPresent()) {
      throw new Flaw(error.get().line(), error.get().message() + ": " + error.get().text());
    }
    boolean module = !source.methods(MODEL).isEmpty();
    String entry = module ? Task.MODULE : constant(source, "ENTRY", String.class).orElse(name);
    String forward = constant(source, "FORWARD", String.class).orElse(entry);
    Excerpt reference = original(source).orElse(source).excerpt(module ? MODEL : forward);
    Task read =
        new Task(
            suite,
            category,
            name,
            entry,
            module ? moduleSignature(source) : signature(source, entry),
            difficulty(source),
            constant(source, "DTYPE", String.class).orElse(null),
            tags(source),
            constant(source, "EXTRA", Boolean.class).orElse(false),
            source.docstring().filter(text -> !text.isBlank()).orElseThrow(() -> noStatement()),
            reference.text(),
            operations(reference),
            size(reference),
            file,
            null);
    return read.sized(Sizes.stated(source, read));
  }

  /** Null for a signature alone. */
  private static @Nullable CodeSize size(Excerpt reference) {
    if (reference.text().strip().endsWith(": ...")) return null;
    return CodeSize.of(PythonSource.parse(reference.text())).orElse(null);
  }

  /** The original of an imported module; empty if it cannot be read, which the worker reports. */
  private static Optional<PythonSource> original(PythonSource source) throws Flaw {
    Optional<String> path = constant(source, "FILE", String.class);
    if (path.isEmpty() || !source.names().contains("ORIGINAL")) return Optional.empty();
    try {
      return Optional.of(PythonSource.parse(OriginalText.read(Path.of(path.get())).text()));
    } catch (IOException | InvalidPathException | OutOfMemoryError _) {
      return Optional.empty();
    }
  }

  /**
   * PyTorch functions that are called, including {@code @}; methods only if no function is called,
   * as any value has methods, and never special ones such as {@code __init__}.
   */
  private static List<String> operations(Excerpt reference) {
    Set<String> found = new TreeSet<>();
    reference.calls().stream().filter(call -> call.startsWith("torch.")).forEach(found::add);
    if (found.isEmpty()) {
      reference.methods().stream()
          .filter(name -> !name.startsWith("__"))
          .forEach(name -> found.add("torch.Tensor." + name));
    }
    if (reference.multiplies()) found.add("torch.matmul");
    return List.copyOf(found);
  }

  private static Flaw noStatement() {
    return new Flaw(1, "has no statement; it is the docstring at the top of the file");
  }

  private static String signature(PythonSource source, String entry) throws Flaw {
    return source.functions().stream()
        .filter(function -> function.name().equals(entry))
        .reduce((_, last) -> last)
        .map(PythonSource.Function::signature)
        .orElseThrow(() ->
            new Flaw(
                null,
                "has no reference: define "
                    + entry
                    + "(...) at top level, or name it with ENTRY = \"...\""));
  }

  /** {@code ModelNew(alpha: float = 1.0).forward(x: torch.Tensor) -> torch.Tensor}. */
  private static String moduleSignature(PythonSource source) throws Flaw {
    return Task.MODULE
        + parameters(source, "__init__").orElse("()")
        + ".forward"
        + parameters(source, "forward")
            .orElseThrow(() -> new Flaw(null, MODEL + " has no forward(self, ...)"));
  }

  /** A method's parameters and annotation, without {@code self}. */
  private static Optional<String> parameters(PythonSource source, String method) {
    return source
        .method(MODEL, method)
        .map(said -> said.substring(method.length()).replaceFirst("^\\(self(, )?", "("));
  }

  private static @Nullable Integer difficulty(PythonSource source) throws Flaw {
    Constant given = source.constants().get("DIFFICULTY");
    Long difficulty = constant(source, "DIFFICULTY", Long.class).orElse(null);
    if (given == null || difficulty == null) return null;
    if (difficulty >= 1 && difficulty <= 5) return difficulty.intValue();
    throw new Flaw(given.line(), "DIFFICULTY is not 1 to 5");
  }

  private static List<String> tags(PythonSource source) throws Flaw {
    Constant tags = source.constants().get("TAGS");
    if (tags == null) return absent(source, "TAGS", List.of());
    if (tags.value() instanceof List<?> list && list.stream().allMatch(String.class::isInstance)) {
      return list.stream().map(String.class::cast).toList();
    }
    throw new Flaw(tags.line(), "TAGS is not a tuple of strings");
  }

  private static <T> Optional<T> constant(PythonSource source, String name, Class<T> type)
      throws Flaw {
    Constant constant = source.constants().get(name);
    if (constant == null) return absent(source, name, Optional.empty());
    if (!type.isInstance(constant.value())) {
      throw new Flaw(constant.line(), name + " is no " + word(type));
    }
    return Optional.of(type.cast(constant.value()));
  }

  private static <T> T absent(PythonSource source, String name, T value) throws Flaw {
    if (source.names().contains(name)) {
      throw new Flaw(null, name + " is not a literal; task files are read without being run");
    }
    return value;
  }

  private static String word(Class<?> type) {
    if (type == Long.class) return "whole number";
    return type == Boolean.class ? "True or False" : "string";
  }

  /** Reason and line of an unusable file. */
  private static final class Flaw extends Exception {
    private static final long serialVersionUID = 1;
    private final @Nullable Integer line;
    private final String message;

    Flaw(@Nullable Integer line, String message) {
      super(message);
      this.line = line;
      this.message = message;
    }
  }
}

package dev.kbx.task;

import dev.kbx.files.AtomicFile;
import dev.kbx.syntax.PythonSource;
import dev.kbx.syntax.SyntaxCheck;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;

/**
 * A user's own reference: a Python file with a class {@code Model} as KernelBench has it, or with a
 * function. It becomes a suite of one task, whose file names the reference and holds no code of it,
 * as those of an imported suite do.
 *
 * @param file absolute
 * @param name of the function; {@code Model} for a module
 * @param source what the file holds
 * @param sha256 of the file's bytes
 * @param imported SHA-256 of the files beside it that it imports
 * @param backward whether its gradients are judged: of a function by entries named {@code
 *     NAME_backward}
 */
public record OwnReference(
    Path file,
    String name,
    PythonSource source,
    String sha256,
    Map<Path, String> imported,
    boolean backward) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z_0-9]*");
  private static final int ID_LENGTH = 12;

  /** What the label of every reference begins with. */
  public static final String LABEL = "reference ";

  /**
   * Reads a reference.
   *
   * @param spec {@code FILE} or {@code FILE:NAME}
   * @param syntax finds syntax errors
   * @throws InvalidSuite if there is no such file or it holds no such reference
   */
  public static OwnReference read(String spec, SyntaxCheck syntax) {
    int colon = spec.lastIndexOf(':');
    boolean named = colon > 0 && NAME.matcher(spec.substring(colon + 1)).matches() && !isFile(spec);
    return read(
        path(named ? spec.substring(0, colon) : spec),
        named ? spec.substring(colon + 1) : null,
        syntax);
  }

  private static OwnReference read(Path file, @Nullable String asked, SyntaxCheck syntax) {
    if (Files.isDirectory(file)) {
      throw new InvalidSuite(file + ": is a folder; name a Python file with a reference");
    }
    try {
      OriginalText text = OriginalText.read(file);
      PythonSource source = PythonSource.parse(text.text());
      syntax
          .error(source)
          .ifPresent(error -> {
            throw new InvalidSuite(
                "%s:%d: %s: %s".formatted(file, error.line(), error.message(), error.text()));
          });
      String name = new ReferenceName(file, source).chosen(asked);
      Path absolute = file.toAbsolutePath().normalize();
      return new OwnReference(
          absolute, name, source, text.sha256(), ImportedFiles.of(absolute, source), false);
    } catch (CharacterCodingException _) {
      throw new InvalidSuite(file + ": is not UTF-8");
    } catch (IOException | OutOfMemoryError _) {
      throw new InvalidSuite(file + ": there is no such file, or it cannot be read");
    }
  }

  private static boolean isFile(String path) {
    try {
      return Files.exists(Path.of(path));
    } catch (InvalidPathException _) {
      return false;
    }
  }

  private static Path path(String spec) {
    try {
      return Path.of(spec);
    } catch (InvalidPathException _) {
      throw new InvalidSuite(spec + ": is not a path");
    }
  }

  /** The task of its gradients. */
  public OwnReference gradients() {
    return new OwnReference(file, name, source, sha256, imported, true);
  }

  /** The files that it is made of: its own, and those beside it that it imports. */
  public List<Path> files() {
    return Stream.concat(Stream.of(file), imported.keySet().stream()).toList();
  }

  /** Whether candidates are modules, not functions. */
  public boolean isModule() {
    return name.equals(ReferenceName.MODEL);
  }

  /** The reference in a line, with what it holds: {@code my_ref.py:softmax (1a2b3c4d5e6f)}. */
  public String label() {
    return LABEL
        + "%s%s%s (%s)"
            .formatted(
                file.getFileName(),
                isModule() ? "" : ":" + name,
                backward ? " --backward" : "",
                id());
  }

  /** Equal for references of equal content at the same place, with that of what they import. */
  private String id() {
    StringBuilder content = new StringBuilder(file + "\n" + name + "\n" + sha256);
    imported.forEach(
        (path, digest) -> content.append("\n").append(path).append(" ").append(digest));
    if (backward) content.append("\nbackward");
    return DigestUtils.sha256Hex(content.toString()).substring(0, ID_LENGTH);
  }

  /**
   * Writes the suite below a folder, unless it is there; returns the suite's own folder.
   *
   * @throws IOException if it cannot be written
   */
  public Path write(Path folder) throws IOException {
    Path suite = folder.resolve(Task.OWN + "-" + id());
    Path task = suite.resolve(Task.OWN).resolve(taskName() + ".py");
    if (Files.exists(task) && Files.readString(task).equals(text())) return suite;
    AtomicFile.cache(task, text().getBytes(StandardCharsets.UTF_8));
    return suite;
  }

  private String taskName() {
    if (!isModule()) return entry();
    String stem = file.getFileName().toString().replaceFirst("\\.py$", "");
    stem = stem.replaceFirst("^[._]+", "").replaceAll("[^A-Za-z0-9_.-]", "_");
    return backward ? stem + Gradients.SUFFIX : stem;
  }

  /** What candidates for a function define. */
  String entry() {
    return backward ? name + Gradients.SUFFIX : name;
  }

  private String statement() {
    String what = "`%s` in `%s`".formatted(name, file.getFileName());
    return backward
        ? Gradients.statement(what, isModule(), List.of())
        : "The result of %s.".formatted(what);
  }

  private String text() {
    return """
    \"""%s
    \"""

    from kbx.suite.original import %s

    ENTRY = %s
    TAGS = ("%s",)
    %sFILE = %s
    ORIGINAL = %s(
        file=FILE,
        sha256=%s,%s%s
    )


    %s
    """
        .formatted(
            OriginalText.escaped(statement()),
            isModule() ? "OwnModel" : "OwnFunction",
            OriginalText.quoted(isModule() ? Task.MODULE : entry()),
            Task.OWN,
            derivesFunction() ? "FORWARD = %s\n".formatted(OriginalText.quoted(name)) : "",
            OriginalText.quoted(file.toString()),
            isModule() ? "OwnModel" : "OwnFunction",
            OriginalText.quoted(sha256),
            imports(),
            !backward ? "" : isModule() ? "\n    backward=True," : "\n    forward=FORWARD,",
            definition());
  }

  private boolean derivesFunction() {
    return backward && !isModule();
  }

  private String imports() {
    if (imported.isEmpty()) return "";
    StringBuilder lines = new StringBuilder("\n    imported={\n");
    imported.forEach((path, digest) ->
        lines.append(
            "        %s: %s,\n"
                .formatted(OriginalText.quoted(path.toString()), OriginalText.quoted(digest))));
    return lines.append("    },").toString();
  }

  private String definition() {
    if (isModule()) return OriginalText.model(source);
    String usual = signature().orElse(name + "(*args, **kwargs)");
    return "def %s: ..."
        .formatted(
            backward ? Gradients.signature(name, usual, List.of("grad_output"), Set.of()) : usual);
  }

  /** The reference's signature; empty where it is assigned, as a partial is. */
  public Optional<String> signature() {
    return source.functions().stream()
        .filter(function -> function.name().equals(name))
        .reduce((_, last) -> last)
        .map(PythonSource.Function::signature);
  }
}

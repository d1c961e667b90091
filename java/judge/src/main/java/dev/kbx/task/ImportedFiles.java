package dev.kbx.task;

import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The Python files beside a file that it imports, and those that these import: a module is a file,
 * of a package every file counts. Imports that code puts together at run time are not seen.
 */
final class ImportedFiles {
  private final Path folder;
  private final Map<Path, String> digests = new TreeMap<>();
  private final Deque<PythonSource> open = new ArrayDeque<>();

  private ImportedFiles(Path folder) {
    this.folder = folder;
  }

  /**
   * The SHA-256 of the imported files by path.
   *
   * @param file absolute
   * @param source what it holds
   * @throws IOException if one cannot be read
   */
  static Map<Path, String> of(Path file, PythonSource source) throws IOException {
    Path folder = file.getParent();
    if (folder == null) return Map.of();
    ImportedFiles found = new ImportedFiles(folder);
    found.open.add(source);
    while (!found.open.isEmpty()) {
      for (String name : modules(found.open.pop())) found.module(name);
    }
    found.digests.remove(file);
    return found.digests;
  }

  private void module(String name) throws IOException {
    Path alone = folder.resolve(name + ".py");
    if (Files.isRegularFile(alone)) add(alone);
    Path whole = folder.resolve(name);
    if (!Files.isDirectory(whole)) return;
    List<Path> files;
    try (Stream<Path> inside = Files.walk(whole)) {
      files = inside.filter(f -> f.toString().endsWith(".py") && Files.isRegularFile(f)).toList();
    }
    for (Path file : files) add(file);
  }

  private void add(Path file) throws IOException {
    if (digests.containsKey(file)) return;
    try {
      OriginalText text = OriginalText.read(file);
      digests.put(file, text.sha256());
      open.add(PythonSource.parse(text.text()));
    } catch (CharacterCodingException _) {
      throw new InvalidSuite(file + ": is not UTF-8");
    }
  }

  private static Set<String> modules(PythonSource source) {
    Set<String> names = new LinkedHashSet<>();
    for (Node node : source.tree().map(Node::all).orElse(List.of())) {
      names.addAll(modules(node, source));
    }
    return names;
  }

  /**
   * The first names of the modules that a statement imports: {@code a} of {@code import a.b}. None
   * for any other node.
   */
  static Set<String> modules(Node node, PythonSource source) {
    Set<String> names = new LinkedHashSet<>();
    Node from = node.is("import_from_statement") ? node.child("module_name") : null;
    if (from != null) names.add(first(source, from));
    if (node.is("import_statement")) {
      for (Node child : node.children()) {
        if (!"name".equals(child.field())) continue;
        Node aliased = child.child("name");
        names.add(first(source, aliased == null ? child : aliased));
      }
    }
    names.remove("");
    return names;
  }

  /** Empty for an import that is relative to a package. */
  private static String first(PythonSource source, Node path) {
    String text = source.text(path).strip();
    int dot = text.indexOf('.');
    return dot < 0 ? text : text.substring(0, dot).strip();
  }
}

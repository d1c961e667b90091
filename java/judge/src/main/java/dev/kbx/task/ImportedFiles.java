package dev.kbx.task;

import dev.kbx.syntax.PythonSource;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
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
      for (String name : found.open.pop().modules()) found.module(name);
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
}

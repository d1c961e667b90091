package dev.kbx.candidate;

import dev.kbx.candidate.Solutions.Unusable;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Several Python files of one program as a single one: each stands above those that import names of
 * it, and these imports become assignments where they rename. What that would change is refused: a
 * name that two files define, a file that is imported as a module.
 */
final class JoinedSources {
  private static final String SUFFIX = ".py";
  private static final String PACKAGE = "__init__";

  private final Map<String, String> contents;

  /** Paths by the names of modules. */
  private final Map<String, String> modules = new HashMap<>();

  private final Set<String> begun = new LinkedHashSet<>();
  private final Set<String> done = new LinkedHashSet<>();

  /** For each name that a file defines: the file, and the import that does so, if it is one. */
  private final Map<String, Definition> defined = new HashMap<>();

  private final Set<String> futures = new LinkedHashSet<>();
  private final StringBuilder joined = new StringBuilder();

  private record Definition(String file, @Nullable String statement) {}

  private JoinedSources(Map<String, String> contents) throws Unusable {
    this.contents = contents;
    for (String path : contents.keySet()) {
      if (!path.endsWith(SUFFIX)) {
        throw new Unusable("has %s, which is no Python file".formatted(path));
      }
      modules.put(module(path), path);
    }
  }

  /**
   * The program of which {@code entry} is run.
   *
   * @param contents of the files by their paths
   */
  static String of(Map<String, String> contents, String entry) throws Unusable {
    if (contents.size() == 1) return contents.values().iterator().next();
    JoinedSources all = new JoinedSources(contents);
    all.add(entry);
    String futures = all.futures.isEmpty() ? "" : String.join("\n", all.futures) + "\n\n";
    return futures + all.joined.toString().strip() + "\n";
  }

  private static String module(String path) {
    List<String> parts =
        new ArrayList<>(
            Arrays.asList(path.substring(0, path.length() - SUFFIX.length()).split("/")));
    if (parts.getLast().equals(PACKAGE) && parts.size() > 1) parts.removeLast();
    return String.join(".", parts);
  }

  /** Adds a file, behind those that it imports. */
  private void add(String path) throws Unusable {
    if (done.contains(path)) return;
    if (!begun.add(path)) {
      throw new Unusable("has files that import each other, %s among them".formatted(path));
    }
    String content = Objects.requireNonNull(contents.get(path));
    PythonSource source = PythonSource.parse(content);
    Node tree =
        source.tree().orElseThrow(() -> new Unusable("has %s, which is too large".formatted(path)));
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    StringBuilder own = new StringBuilder();
    Map<String, String> imported = new LinkedHashMap<>();
    int end = 0;
    for (Node statement : imports(tree, source, path)) {
      own.append(text(bytes, end, statement.start()));
      own.append(replaced(statement, source, path, imported));
      end = statement.end();
    }
    own.append(text(bytes, end, bytes.length));
    for (String name : source.names()) define(name, new Definition(path, imported.get(name)));
    joined.append(own.toString().strip()).append("\n\n\n");
    done.add(path);
  }

  private static String text(byte[] bytes, int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }

  /** The import statements of a file that stand at its top level. */
  private List<Node> imports(Node tree, PythonSource source, String path) throws Unusable {
    List<Node> top = tree.children().stream().filter(JoinedSources::isImport).toList();
    for (Node node : tree.all()) {
      if (isImport(node) && !top.contains(node) && reaches(node, source, path)) {
        throw new Unusable(
            "imports another of its files inside of a function or a condition (%s, line %d)"
                .formatted(path, node.line()));
      }
    }
    return top;
  }

  private static boolean isImport(Node node) {
    return node.is("import_statement", "import_from_statement", "future_import_statement");
  }

  private boolean reaches(Node statement, PythonSource source, String path) {
    Node from = statement.child("module_name");
    if (from != null) return file(source.text(from), path).isPresent();
    return names(statement).stream().anyMatch(name -> modules.containsKey(named(name, source)));
  }

  /** What stands in the place of an import: nothing of a file's names that keep theirs. */
  private String replaced(
      Node statement, PythonSource source, String path, Map<String, String> imported)
      throws Unusable {
    String text = source.text(statement);
    if (statement.is("future_import_statement")) {
      futures.add(text);
      return "";
    }
    Node from = statement.child("module_name");
    Optional<String> file = from == null ? Optional.empty() : file(source.text(from), path);
    if (file.isEmpty()) {
      if (reaches(statement, source, path) || isRelative(from, source)) {
        throw new Unusable(
            "imports another of its files as a module (%s, line %d: %s); names of it can be"
                .formatted(path, statement.line(), text));
      }
      for (Node name : names(statement)) imported.put(bound(name, source), text);
      return text;
    }
    add(file.get());
    List<String> renamed = new ArrayList<>();
    for (Node name : names(statement)) {
      String was = named(name, source);
      String is = bound(name, source);
      imported.put(is, "from " + file.get() + " " + was);
      if (is.equals(was)) {
        Definition there = defined.get(was);
        if (there != null) imported.put(is, there.toString());
      } else {
        renamed.add(is + " = " + was);
      }
    }
    return String.join("\n", renamed);
  }

  private boolean isRelative(@Nullable Node from, PythonSource source) {
    return from != null && source.text(from).startsWith(".");
  }

  /** The file of this program that a module's name means in the file at a path. */
  private Optional<String> file(String name, String path) {
    if (!name.startsWith(".")) return Optional.ofNullable(modules.get(name));
    int dots = 0;
    while (dots < name.length() && name.charAt(dots) == '.') dots++;
    List<String> parts = new ArrayList<>(Arrays.asList(path.split("/")));
    if (parts.size() < dots) return Optional.empty();
    List<String> folder = parts.subList(0, parts.size() - dots);
    List<String> whole = new ArrayList<>(folder);
    if (dots < name.length()) whole.add(name.substring(dots));
    return Optional.ofNullable(modules.get(String.join(".", whole)));
  }

  private static List<Node> names(Node statement) {
    return statement.children().stream().filter(child -> "name".equals(child.field())).toList();
  }

  private static String named(Node name, PythonSource source) {
    Node was = name.is("aliased_import") ? name.child("name") : name;
    return source.text(Objects.requireNonNull(was));
  }

  private static String bound(Node name, PythonSource source) {
    Node alias = name.is("aliased_import") ? name.child("alias") : null;
    return alias == null ? named(name, source).split("\\.", 2)[0] : source.text(alias);
  }

  /** A name may have several definitions if all are one import. */
  private void define(String name, Definition definition) throws Unusable {
    Definition other = defined.putIfAbsent(name, definition);
    if (other == null || other.toString().equals(definition.statement())) return;
    if (other.statement() != null && other.statement().equals(definition.statement())) return;
    throw new Unusable(
        "defines %s in %s and in %s: rename one".formatted(name, other.file(), definition.file()));
  }
}

package dev.kbx.task;

import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Finds what a task's code may read besides its own text: files, the environment, packages that may
 * change. Code is closed only if it imports nothing but a few modules and names nothing that opens
 * a file or reaches such a name at run time.
 *
 * <p>By the text, not by watching: a file may be opened only at some sizes, or by C++ that raises
 * no audit event ({@code torch.from_file}, {@code torch.jit.load}), and code that asks whether a
 * file exists opens nothing until there is one.
 */
final class OpenCode {
  /** Modules that compute. */
  private static final Set<String> CLOSED =
      Set.of(
          "__future__",
          "abc",
          "cmath",
          "collections",
          "contextlib",
          "copy",
          "dataclasses",
          "decimal",
          "einops",
          "enum",
          "fractions",
          "functools",
          "itertools",
          "kbx",
          "math",
          "numbers",
          "numpy",
          "operator",
          "random",
          "re",
          "statistics",
          "string",
          "torch",
          "triton",
          "types",
          "typing",
          "typing_extensions",
          "warnings");

  private static final String LOADS = "load";

  /** A name with that beginning that takes tensors, not a file. */
  private static final String LOADS_NOTHING = "load_state_dict";

  /**
   * Names, of functions, methods, modules and variables, by which code gets at other things. Also
   * with an underscore: {@code random._os}, {@code torch._C}.
   */
  private static final Set<String> OPENING =
      Set.of(
          "DataSource",
          "FileLister",
          "FileOpener",
          "__builtins__",
          "__dict__",
          "__file__",
          "__getattribute__",
          "__globals__",
          "__import__",
          "__loader__",
          "__spec__",
          "__subclasses__",
          "_C",
          "attrgetter",
          "breakpoint",
          "builtins",
          "collect_env",
          "cpp_extension",
          "ctypes",
          "datapipes",
          "from_file",
          "fromfile",
          "fromregex",
          "genfromtxt",
          "globals",
          "hub",
          "importlib",
          "inspect",
          "io",
          "linecache",
          "locals",
          "memmap",
          "methodcaller",
          "open",
          "open_memmap",
          "os",
          "package",
          "pathlib",
          "pickle",
          "serialization",
          "shutil",
          "socket",
          "subprocess",
          "sys",
          "tempfile",
          "vars");

  private static final Pattern KERNEL =
      Pattern.compile("@\\s*(?:triton\\.)?jit\\b.*", Pattern.DOTALL);

  private static final String LOOKUP = "getattr";
  private static final Pattern LITERAL = Pattern.compile("(['\"])(\\w*)\\1");

  /** Built-in functions whose names methods have, too: {@code model.eval()}. */
  private static final Set<String> OPENING_BARE = Set.of("eval", "exec");

  private OpenCode() {}

  /**
   * Where code is open, as in {@code 3: torch.load}; empty if it is closed.
   *
   * @param beside whether a module of this name is looked at, too
   */
  static Optional<String> in(PythonSource source, Predicate<String> beside) {
    if (source.error().isPresent() || !source.understood()) return Optional.of("1");
    List<Node> nodes = source.tree().map(Node::all).orElse(List.of());
    Set<String> imported = imported(nodes, source);
    Set<Node> compiled = compiled(nodes, source);
    return nodes.stream()
        .filter(node -> !compiled.contains(node))
        .filter(node -> isOpen(node, source) || looksUp(node, source, imported))
        .findFirst()
        .or(() -> foreignImport(nodes, source, beside))
        .map(node -> source.place(node).line() + ": " + source.text(node));
  }

  /** What Triton compiles, where {@code tl.load} reads memory. */
  private static Set<Node> compiled(List<Node> nodes, PythonSource source) {
    return nodes.stream()
        .filter(node -> node.is("decorated_definition"))
        .filter(node ->
            node.children().stream()
                .filter(child -> child.is("decorator"))
                .anyMatch(child -> KERNEL.matcher(source.text(child)).matches()))
        .flatMap(node -> node.all().stream())
        .collect(Collectors.toCollection(() -> Collections.newSetFromMap(new IdentityHashMap<>())));
  }

  private static boolean isOpen(Node node, PythonSource source) {
    if (!node.is("identifier")) return false;
    String name = source.text(node);
    if (OPENING_BARE.contains(name)) return !"attribute".equals(node.field());
    if (name.equals(LOOKUP)) return !"function".equals(node.field());
    return opens(name);
  }

  private static boolean opens(String name) {
    return OPENING.contains(name)
        || (name.startsWith("_") && OPENING.contains(name.substring(1)))
        || (name.startsWith(LOADS) && !name.equals(LOADS_NOTHING));
  }

  private static Set<String> imported(List<Node> nodes, PythonSource source) {
    return nodes.stream()
        .filter(node -> node.is("import_statement", "import_from_statement"))
        .flatMap(node -> node.all().stream())
        .filter(node -> node.is("identifier"))
        .map(source::text)
        .collect(Collectors.toSet());
  }

  /** A {@code getattr} by a name that opens, or of an imported name by one that is computed. */
  private static boolean looksUp(Node call, PythonSource source, Set<String> imported) {
    if (!call.is("call")) return false;
    Node function = call.child("function");
    Node list = call.child("arguments");
    if (function == null || list == null || !source.text(function).equals(LOOKUP)) return false;
    List<Node> given =
        list.children().stream().filter(each -> !each.is("(", ",", ")", "comment")).toList();
    if (given.size() < 2) return true;
    Matcher literal = LITERAL.matcher(source.text(given.get(1)));
    if (literal.matches()) return opens(literal.group(2));
    return imported.contains(source.text(given.getFirst()).split("\\.", 2)[0]);
  }

  private static Optional<Node> foreignImport(
      List<Node> nodes, PythonSource source, Predicate<String> beside) {
    return nodes.stream()
        .filter(node -> node.is("import_statement", "import_from_statement"))
        .filter(node ->
            source.modules(node).stream()
                .anyMatch(name -> !CLOSED.contains(name) && !beside.test(name)))
        .findFirst();
  }
}

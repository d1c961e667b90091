package dev.kbx.task;

import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What in a user's file is the reference: one name that it defines. */
record ReferenceName(Path file, PythonSource source) {
  static final String MODEL = "Model";

  /** Functions that make arguments. */
  private static final Set<String> INPUTS =
      Set.of("inputs", "get_inputs", "get_init_inputs", "generate_input");

  /** Functions of a script. */
  private static final Pattern SCRIPT =
      Pattern.compile("main|(?:test|bench|benchmark|check)(?:_.*)?");

  private static final Pattern KERNEL =
      Pattern.compile("(?:triton\\.)?(?:jit|autotune|heuristics)\\b.*", Pattern.DOTALL);
  private static final Pattern NOTE = Pattern.compile("\\s*#\\s*inputs:\\s*(.*)");
  private static final Pattern WEIGHTS = Pattern.compile("\\s*#\\s*weights:\\s*([\\d.].*)");

  /** What makes a function of another, where a name is assigned. */
  private static final Pattern MAKES_FUNCTION =
      Pattern.compile(
          "lambda\\b.*|(?:[\\w.]+\\.)?(?:partial|compile|script|trace|vmap)\\(.*|[\\w.]+\\.apply",
          Pattern.DOTALL);

  /**
   * The name that was asked for, or the only one that can be meant.
   *
   * @throws InvalidSuite if there is none, or several
   */
  String chosen(@Nullable String asked) {
    if (asked != null) return asked(asked);
    if (!source.methods(MODEL).isEmpty()) return MODEL;
    List<String> functions = functions();
    if (functions.isEmpty()) functions = assigned();
    for (List<String> found : List.of(noted(functions), functions, uncalled(functions))) {
      if (found.size() == 1) return found.getFirst();
    }
    if (functions.isEmpty()) throw none();
    throw new InvalidSuite(
        "%s: defines %s: name the reference, as in %s:%s"
            .formatted(file, String.join(", ", functions), file, functions.getLast()));
  }

  private String asked(String asked) {
    boolean model = !source.methods(MODEL).isEmpty();
    if (asked.equals(MODEL) ? model : source.names().contains(asked)) return asked;
    List<String> there = model ? List.of(MODEL) : functions();
    throw new InvalidSuite(
        "%s: defines no function %s; it has %s"
            .formatted(file, asked, there.isEmpty() ? "no function" : String.join(", ", there)));
  }

  /** Public functions, but for those that make arguments, are kernels, or belong to a script. */
  private List<String> functions() {
    return source.functions().stream()
        .filter(function ->
            function.decorators().stream().noneMatch(text -> KERNEL.matcher(text).matches()))
        .map(PythonSource.Function::name)
        .filter(name -> !name.startsWith("_") && !INPUTS.contains(name))
        .filter(name -> !SCRIPT.matcher(name).matches())
        .distinct()
        .toList();
  }

  private List<String> noted(List<String> functions) {
    return functions.stream().filter(name -> !notes(name).isEmpty()).toList();
  }

  /** Those that no other one of them calls. */
  private List<String> uncalled(List<String> functions) {
    Set<String> called = new HashSet<>();
    for (String name : functions) {
      PythonSource needed = PythonSource.parse(source.excerpt(name).text());
      needed.functions().stream()
          .map(PythonSource.Function::name)
          .filter(other -> !other.equals(name))
          .forEach(called::add);
    }
    return functions.stream().filter(name -> !called.contains(name)).toList();
  }

  /** Public names that are assigned a function made of another. */
  private List<String> assigned() {
    return source.tree().stream()
        .flatMap(module -> module.children().stream())
        .filter(statement -> statement.is("expression_statement"))
        .map(statement -> statement.children().getFirst())
        .filter(this::makesFunction)
        .map(assignment -> source.text(assignment.children().getFirst()))
        .filter(name -> !name.startsWith("_") && !INPUTS.contains(name))
        .distinct()
        .toList();
  }

  private boolean makesFunction(Node assignment) {
    Node left = assignment.child("left");
    Node right = assignment.child("right");
    return assignment.is("assignment")
        && left != null
        && left.is("identifier")
        && right != null
        && MAKES_FUNCTION.matcher(source.text(right)).matches();
  }

  private InvalidSuite none() {
    List<String> modules =
        source.names().stream()
            .filter(name -> source.methods(name).stream().anyMatch(m -> m.name().equals("forward")))
            .toList();
    if (!modules.isEmpty()) {
      return new InvalidSuite(
          "%s: defines the class %s: call it Model, and add get_inputs(); its candidates define ModelNew"
              .formatted(file, modules.getLast()));
    }
    List<String> there = source.functions().stream().map(PythonSource.Function::name).toList();
    String only = there.isEmpty() ? "" : "; it has only " + String.join(", ", there);
    return new InvalidSuite(
        file
            + ": defines neither a class Model with methods nor a function to compare with"
            + only);
  }

  /** The comments directly above a function that describe its arguments, one for each call. */
  List<String> notes(String name) {
    return comments(name, NOTE);
  }

  /** What such a comment says of the time of each call; empty without one. */
  List<String> weights(String name) {
    return comments(name, WEIGHTS).stream()
        .flatMap(text -> Stream.of(text.split(",")))
        .map(String::strip)
        .toList();
  }

  private List<String> comments(String name, Pattern kind) {
    int line =
        Stream.concat(
                source.functions().stream().filter(f -> f.name().equals(name)).map(f -> f.line()),
                Stream.of(1))
            .findFirst()
            .orElseThrow();
    List<String> found = new ArrayList<>();
    source.text().lines().limit(line - 1L).toList().reversed().stream()
        .dropWhile(text -> text.startsWith("@"))
        .takeWhile(text -> text.strip().startsWith("#"))
        .map(kind::matcher)
        .filter(Matcher::matches)
        .forEach(note -> found.addFirst(note.group(1).strip()));
    return found;
  }
}

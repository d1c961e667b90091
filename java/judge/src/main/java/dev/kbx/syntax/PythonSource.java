package dev.kbx.syntax;

import dev.kbx.syntax.PythonSource.SyntaxError;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Parsed Python source. Immutable; {@link #parse} may be called from any thread, accepts any text
 * and never fails.
 */
public final class PythonSource {
  /** Characters; longer source is not parsed, as trees take far more memory than text. */
  public static final int MAX_LENGTH = 2 << 20;

  /** Statements of the grammar that are an expression and nothing else. */
  private static final Set<String> INERT =
      Set.of("expression_statement", "pass_statement", "ERROR");

  /** Not that it is wrong: the parser's grammar refuses some valid Python. */
  private static final String UNREAD = "kbx cannot read this without Python";

  private static final Pattern NEWLINE = Pattern.compile("\\r\\n?");

  /**
   * A syntax error.
   *
   * @param line from 1
   * @param column in characters, from 1
   * @param text the line, stripped
   * @param certain false where only the parser refuses it, whose grammar lacks some valid Python
   */
  public record SyntaxError(int line, int column, String text, String message, boolean certain) {}

  /**
   * A top-level function.
   *
   * @param line of its {@code def}, from 1
   * @param signature {@code name(parameters) -> annotation} as written, comments and line breaks
   *     removed
   * @param decorators their expressions as written, without the {@code @}
   */
  public record Function(String name, int line, String signature, List<String> decorators) {
    public Function {
      decorators = List.copyOf(decorators);
    }
  }

  /**
   * A top-level {@code NAME = literal}.
   *
   * @param value a String, Long, Double, Boolean, or a List of those
   */
  public record Constant(int line, Object value) {}

  private final @Nullable SyntaxError error;
  private final boolean understood;
  private final boolean code;
  private final @Nullable String docstring;
  private final List<Function> functions;
  private final Map<String, Constant> constants;
  private final Set<String> names;
  private final Set<String> freeNames;
  private final Set<String> modules;
  private final boolean dynamic;
  private final @Nullable Node module;
  private final List<Node> extras;
  private final Utf8 source;

  private PythonSource(String text, Utf8 source, TreeSitter.Tree tree) {
    Node module = tree.root();
    this.module = module;
    this.source = source;
    extras = Collections.unmodifiableList(tree.extras());
    List<Node> all = module.all();
    boolean broken = all.stream().anyMatch(Node::broken);
    ModuleNames found = new ModuleNames(module, source);
    error = EncodingDeclaration.error(text).or(() -> unread(all, source)).orElse(null);
    understood = !broken;
    code = all.stream().anyMatch(node -> isCode(node, broken));
    docstring = docstring(module, source);
    functions = functions(module, source);
    constants = constants(module, source);
    names = Collections.unmodifiableSet(found.top());
    freeNames = Collections.unmodifiableSet(found.free());
    modules =
        all.stream()
            .flatMap(node -> modules(node, source).stream())
            .collect(Collectors.toUnmodifiableSet());
    dynamic = found.dynamic();
  }

  /** Source that is not parsed: too long, too large or too malformed. */
  private PythonSource(@Nullable SyntaxError error, boolean code) {
    this.error = error;
    this.code = code;
    module = null;
    extras = List.of();
    source = new Utf8("");
    understood = false;
    docstring = null;
    functions = List.of();
    constants = Map.of();
    names = Set.of();
    freeNames = Set.of();
    modules = Set.of();
    dynamic = true;
  }

  public static PythonSource parse(String code) {
    if (code.length() > MAX_LENGTH) return new PythonSource(null, true);
    // Python reads all three line ends as one, the grammar does not.
    String text = NEWLINE.matcher(code).replaceAll("\n");
    int prose = LongProse.in(text);
    if (prose >= 0) return ofProse(text, prose);
    Utf8 source = new Utf8(text);
    TreeSitter.Tree tree = TreeSitter.parse(source.bytes());
    return tree == null ? new PythonSource(null, true) : new PythonSource(text, source, tree);
  }

  /**
   * Prose that is not parsed.
   *
   * @param at what no Python begins with
   */
  private static PythonSource ofProse(String text, int at) {
    int start = text.lastIndexOf('\n', at) + 1;
    int end = text.indexOf('\n', at);
    String line = text.substring(start, end < 0 ? text.length() : end).strip();
    int number = 1 + (int) text.substring(0, at).chars().filter(c -> c == '\n').count();
    SyntaxError unread = new SyntaxError(number, at - start + 1, line, UNREAD, false);
    return new PythonSource(
        EncodingDeclaration.error(text).orElse(unread), LongProse.mayHoldCode(text));
  }

  /**
   * The first place that the parser does not understand, or a declared encoding other than UTF-8.
   * Python decides what is an error: see {@link SyntaxCheck}.
   */
  public Optional<SyntaxError> error() {
    return Optional.ofNullable(error);
  }

  /** The parser found no error; otherwise all results may be incomplete. */
  public boolean understood() {
    return understood;
  }

  /** Whether the source holds more than comments, prose or unused values; true in doubt. */
  public boolean hasCode() {
    return code;
  }

  /** The module's docstring, unescaped and without its common indentation. */
  public Optional<String> docstring() {
    return Optional.ofNullable(docstring);
  }

  /** Top-level functions in order; one name may occur twice. */
  public List<Function> functions() {
    return functions;
  }

  /** Methods of a top-level class in order; empty without such a class. */
  public List<Function> methods(String type) {
    return module == null ? List.of() : methods(type, module, source);
  }

  /** The signature of a method of a top-level class. */
  public Optional<String> method(String type, String name) {
    return methods(type).stream()
        .filter(method -> method.name().equals(name))
        .map(Function::signature)
        .findFirst();
  }

  /**
   * The syntax tree without {@link #extras}; empty for source that is too long, too large or too
   * broken to look at.
   */
  public Optional<Node> tree() {
    return Optional.ofNullable(module);
  }

  /** Comments and line continuations, in source order. */
  List<Node> extras() {
    return extras;
  }

  /** The source with line feeds as line ends; empty for source that is too long. */
  public String text() {
    return source.text();
  }

  /** A node of {@link #tree} as written; names as Python normalises them. */
  public String text(Node node) {
    return source.text(node);
  }

  /** The value of a literal of {@link #tree}: String, Long, Double, Boolean or a List of those. */
  public Optional<Object> literal(Node node) {
    return Optional.ofNullable(Literals.value(node, source));
  }

  /** The text of a {@code string_content} node of {@link #tree}, unescaped. */
  public String piece(Node string, Node content) {
    return Literals.piece(string, content, source);
  }

  /** Where a node of {@link #tree} lies. */
  public Place place(Node node) {
    return source.place(node);
  }

  /**
   * A top-level function with what it needs; its text is empty where there is none of that name.
   */
  public Excerpt excerpt(String function) {
    return module == null
        ? new Excerpt("", Set.of(), Set.of(), false)
        : Excerpt.of(function, module, source);
  }

  /** Top-level assignments of literals to one name; the last of a name counts. */
  public Map<String, Constant> constants() {
    return constants;
  }

  /** Names bound at module level by any statement, in order. */
  public Set<String> names() {
    return names;
  }

  /** Names used and bound nowhere in the source, builtins among them. */
  public Set<String> freeNames() {
    return freeNames;
  }

  /**
   * Packages that import statements name, anywhere in the source: {@code tilelang}, {@code torch}.
   */
  public Set<String> modules() {
    return modules;
  }

  /** Those that one node names, if it is such a statement: {@code a} of {@code import a.b as c}. */
  public Set<String> modules(Node node) {
    return modules(node, source);
  }

  /**
   * Whether the source may bind names at run time: by star imports, exec or the module's
   * dictionary.
   */
  public boolean bindsDynamically() {
    return dynamic;
  }

  /** The first place that the parser does not understand. */
  private static Optional<SyntaxError> unread(List<Node> all, Utf8 source) {
    return all.stream()
        .filter(node -> node.broken() && node.children().stream().noneMatch(Node::broken))
        .findFirst()
        .map(node -> {
          // An error that goes on over lines begins with what is still right.
          boolean lines = !node.children().isEmpty() && source.text(node).contains("\n");
          Place place = source.place(lines ? node.children().getLast() : node);
          return new SyntaxError(place.line(), place.column(), place.text().strip(), UNREAD, false);
        });
  }

  /** In source that does not parse, a call does not prove code: "the gelu(x) function". */
  private static boolean isCode(Node node, boolean broken) {
    return switch (node.kind()) {
      case "function_definition", "class_definition", "assignment", "augmented_assignment" -> true;
      case "import_statement", "import_from_statement", "future_import_statement" -> true;
      case "def", "class", "import" -> true;
      case "call" -> !broken;
      default -> !broken && node.kind().endsWith("_statement") && !INERT.contains(node.kind());
    };
  }

  private static @Nullable String docstring(Node module, Utf8 source) {
    Node statement = module.children().isEmpty() ? null : module.children().getFirst();
    if (statement == null || !statement.is("expression_statement")) return null;
    if (statement.children().size() != 1) return null;
    String text = Literals.string(statement.children().getFirst(), source);
    return text == null ? null : dedented(text);
  }

  /** A docstring as Python's own tools show it: the first line's indentation does not count. */
  private static String dedented(String text) {
    int newline = text.indexOf('\n');
    if (newline < 0) return text.strip();
    String first = text.substring(0, newline).strip();
    // stripIndent counts a blank last line's indentation; a docstring's closing quotes do not.
    String rest = text.substring(newline + 1).stripTrailing().stripIndent();
    return (first + "\n" + rest).strip();
  }

  private static List<Function> functions(Node module, Utf8 source) {
    List<Function> found = new ArrayList<>();
    for (Node statement : module.children()) {
      Node definition =
          statement.is("decorated_definition") ? statement.child("definition") : statement;
      if (definition == null || !definition.is("function_definition")) continue;
      Node name = definition.child("name");
      if (name == null) continue;
      List<String> decorators =
          statement.children().stream()
              .filter(child -> child.is("decorator"))
              .map(child -> source.text(child).substring(1).strip())
              .toList();
      found.add(
          new Function(
              source.text(name), definition.line(), signature(definition, source), decorators));
    }
    return List.copyOf(found);
  }

  private static List<Function> methods(String type, Node module, Utf8 source) {
    for (Node statement : module.children()) {
      Node name = statement.child("name");
      Node body = statement.child("body");
      if (!statement.is("class_definition") || name == null || body == null) continue;
      if (source.text(name).equals(type)) return functions(body, source);
    }
    return List.of();
  }

  private static String signature(Node definition, Utf8 source) {
    StringBuilder text = new StringBuilder();
    for (Node part : definition.children()) {
      if ("name".equals(part.field())) text.append(source.text(part));
      if ("type_parameters".equals(part.field()) || "parameters".equals(part.field())) {
        text.append(oneLine(part, source));
      }
      if ("return_type".equals(part.field())) text.append(" -> ").append(oneLine(part, source));
    }
    return text.toString();
  }

  /** The node's tokens on one line, spaced as written, without comments and a last comma. */
  private static String oneLine(Node node, Utf8 source) {
    StringBuilder text = new StringBuilder();
    List<Node> tokens = node.tokens();
    for (int i = 0; i < tokens.size(); i++) {
      Node token = tokens.get(i);
      boolean lastComma = token.is(",") && i == tokens.size() - 2 && node.is("parameters");
      if (lastComma) continue;
      boolean spaced = i > 0 && tokens.get(i - 1).end() < token.start();
      boolean tight = i > 0 && tokens.get(i - 1).is("(", "[", "{");
      if (spaced && !tight && !token.is(")", "]", "}", ",", ":")) text.append(' ');
      text.append(source.text(token));
    }
    return text.toString();
  }

  private static Map<String, Constant> constants(Node module, Utf8 source) {
    Map<String, Constant> found = new LinkedHashMap<>();
    Set<String> unknown = new HashSet<>();
    for (Node statement : module.children()) {
      if (!statement.is("expression_statement")) continue;
      Node assignment = statement.children().getFirst();
      Node left = assignment.child("left");
      Node right = assignment.child("right");
      if (!assignment.is("assignment") || left == null || right == null) continue;
      if (!left.is("identifier")) continue;
      Object value = Literals.value(right, source);
      if (value == null) unknown.add(source.text(left));
      else found.put(source.text(left), new Constant(assignment.line(), value));
    }
    // A name that also gets a computed value is not a constant.
    found.keySet().removeAll(unknown);
    return Collections.unmodifiableMap(found);
  }

  private static Set<String> modules(Node node, Utf8 source) {
    Set<String> found = new HashSet<>();
    if (node.is("import_statement")) {
      for (Node child : node.children())
        addPackage(child.is("aliased_import") ? child.child("name") : child, source, found);
    } else if (node.is("import_from_statement")) {
      addPackage(node.child("module_name"), source, found);
    }
    return found;
  }

  /** Not of an import that is relative to a package. */
  private static void addPackage(@Nullable Node name, Utf8 source, Set<String> found) {
    if (name == null || !name.is("dotted_name")) return;
    String text = source.text(name);
    int dot = text.indexOf('.');
    found.add(dot < 0 ? text : text.substring(0, dot));
  }

  /**
   * The encoding that one of the first two lines of a source declares. Sources are read as UTF-8.
   * In an encoding in which ASCII means something else, such as UTF-7, Python would run other code
   * than was read.
   */
  private static final class EncodingDeclaration {
    private static final Pattern DECLARATION =
        Pattern.compile("[ \\t\\f]*#.*?coding[:=][ \\t]*([-_.a-zA-Z0-9]+)");
    private static final Pattern NO_CODE = Pattern.compile("[ \\t\\f]*(#.*)?");

    private static final String ASCII = ascii();

    private EncodingDeclaration() {}

    /** The error of a declaration that the text cannot have. */
    static Optional<SyntaxError> error(String text) {
      int number = 1;
      for (String line : text.lines().limit(2).toList()) {
        Matcher declaration = DECLARATION.matcher(line);
        if (declaration.lookingAt()) {
          String name = declaration.group(1);
          String message = "the source declares the encoding " + name + ", but is read as UTF-8";
          int column = 1 + declaration.start(1);
          return holdsAscii(name)
              ? Optional.empty()
              : Optional.of(new SyntaxError(number, column, line.strip(), message, true));
        }
        if (!NO_CODE.matcher(line).matches()) return Optional.empty();
        number++;
      }
      return Optional.empty();
    }

    private static boolean holdsAscii(String name) {
      String plain = name.toLowerCase(Locale.ROOT).replace('_', '-');
      if (plain.equals("utf-8") || plain.startsWith("utf-8-") || plain.startsWith("latin-1")) {
        return true;
      }
      try {
        byte[] bytes = ASCII.getBytes(StandardCharsets.US_ASCII);
        return new String(bytes, Charset.forName(plain)).equals(ASCII);
      } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
        return false;
      }
    }

    /** The characters of ASCII that source is written in. */
    private static String ascii() {
      StringBuilder all = new StringBuilder("\t\n");
      for (char c = ' '; c < 127; c++) all.append(c);
      return all.toString();
    }
  }
}

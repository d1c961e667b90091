package dev.kbx.task;

import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates expressions of a task file without running it: numbers, sequences of them, and the
 * shapes of tensors that {@code make} or PyTorch creates. Null (unknown) for everything else.
 */
final class StaticValues {
  /** A tensor with known dtype and shape. */
  record Drawn(String dtype, List<Long> shape) {
    Drawn {
      shape = List.copyOf(shape);
    }
  }

  /** A tuple or a list. */
  record Sequence(boolean tuple, List<Object> items) {
    Sequence {
      items = List.copyOf(items);
    }
  }

  /** Arguments of a call. */
  record Arguments(List<Object> positional, Map<String, Object> named) {}

  /** Any other keyword argument, as written. */
  record Written(String text) {}

  private static final String[] COMPOUND = {
    "if_statement", "for_statement", "while_statement", "try_statement", "with_statement"
  };

  /** Whether values are those that the published tests draw: sizes are told of these. */
  private static final String AS_PUBLISHED = "make.as_published";

  private static final int MAX_DEPTH = 24;
  private static final int MOST_ITEMS = 1024;

  /** Functions that take sizes as positional arguments. */
  private static final Set<String> SIZED =
      Set.of("floats", "plain", "ints", "bools", "rand", "randn", "zeros", "ones", "empty");

  /** Functions and methods whose result has shape and dtype of their first argument. */
  private static final Set<String> ALIKE =
      Set.of(
          "abs",
          "clone",
          "contiguous",
          "cuda",
          "exp",
          "sigmoid",
          "softmax",
          "strided",
          "tril",
          "triu");

  private final PythonSource source;
  private final String floats;
  private final Map<String, Object> known;

  /**
   * @param floats default dtype of floating-point tensors
   * @param known values of names
   */
  StaticValues(PythonSource source, String floats, Map<String, Object> known) {
    this.source = source;
    this.floats = floats;
    this.known = new HashMap<>(known);
  }

  /** Evaluates the assignments of a module or function body in order. */
  void assign(Node block) {
    for (Node statement : block.children()) {
      if (statement.is(COMPOUND)) forget(statement);
      Node assignment = statement.children().isEmpty() ? null : statement.children().getFirst();
      if (!statement.is("expression_statement") || assignment == null) continue;
      Node left = assignment.child("left");
      Node right = assignment.child("right");
      if (!assignment.is("assignment", "augmented_assignment") || left == null) continue;
      Object value = right == null || assignment.is("augmented_assignment") ? null : value(right);
      if (left.is("identifier")) bind(source.text(left), value);
      else if (left.is("pattern_list", "tuple_pattern")) unpack(left, value);
    }
  }

  /** Of a choice by how values are drawn, what it is where they are drawn as published. */
  private @Nullable Object published(Node choice, int depth) {
    List<Node> parts = choice.children();
    boolean chooses = parts.size() == 5 && source.text(parts.get(2)).equals(AS_PUBLISHED);
    return chooses ? value(parts.getFirst(), depth - 1) : null;
  }

  /** Forgets names that a branch or loop may assign. */
  private void forget(Node statement) {
    for (Node node : statement.all()) {
      if (!"left".equals(node.field())) continue;
      node.all().stream().filter(n -> n.is("identifier")).forEach(n -> bind(source.text(n), null));
    }
  }

  private void unpack(Node left, @Nullable Object value) {
    List<Node> names = left.children().stream().filter(n -> n.is("identifier")).toList();
    List<Object> items = value instanceof Sequence(_, List<Object> all) ? all : List.of();
    for (int i = 0; i < names.size(); i++) {
      bind(source.text(names.get(i)), items.size() == names.size() ? items.get(i) : null);
    }
  }

  private void bind(String name, @Nullable Object value) {
    if (value == null) known.remove(name);
    else known.put(name, value);
  }

  /** The value of a name, if it is known. */
  @Nullable Object named(String name) {
    return known.get(name);
  }

  /** A String, Long, Double, Boolean, Sequence or Drawn; null if unknown. */
  @Nullable Object value(Node node) {
    try {
      return value(node, MAX_DEPTH);
    } catch (ArithmeticException _) {
      return null; // Beyond 64 bits, or divided by zero.
    }
  }

  /** Null if one of them is unknown. */
  @Nullable Arguments arguments(Node list) {
    try {
      return arguments(list, MAX_DEPTH);
    } catch (ArithmeticException _) {
      return null;
    }
  }

  private @Nullable Object value(Node node, int depth) {
    if (depth == 0 || node.broken()) return null;
    return switch (node.kind()) {
      case "identifier" -> known.get(source.text(node));
      case "parenthesized_expression" -> value(node.children().get(1), depth - 1);
      case "tuple", "expression_list" -> sequence(true, node, depth);
      case "list" -> sequence(false, node, depth);
      case "unary_operator" -> negative(node, depth);
      case "binary_operator" -> operation(node, depth);
      case "attribute" -> transposed(node, depth);
      case "call" -> called(node, depth);
      case "conditional_expression" -> published(node, depth);
      default -> source.literal(node).orElse(null);
    };
  }

  private @Nullable Object sequence(boolean tuple, Node node, int depth) {
    Arguments items = arguments(node, depth);
    return items == null ? null : new Sequence(tuple, items.positional);
  }

  private @Nullable Arguments arguments(Node list, int depth) {
    List<Object> positional = new ArrayList<>();
    Map<String, Object> named = new LinkedHashMap<>();
    for (Node item : list.children()) {
      if (item.is("(", ")", "[", "]", ",")) continue;
      Node name = item.child("name");
      Node given = item.is("keyword_argument") ? item.child("value") : item;
      if (given != null && item.is("list_splat")) given = item.children().getLast();
      Object value = given == null ? null : value(given, depth - 1);
      if (item.is("keyword_argument") && name != null) {
        if (value == null && given != null) value = new Written(source.text(given));
        if (value != null) named.put(source.text(name), value);
      } else if (value instanceof Sequence(_, List<Object> items) && item.is("list_splat")) {
        positional.addAll(items);
      } else if (value == null || item.is("list_splat")) {
        return null;
      } else {
        positional.add(value);
      }
      if (positional.size() > MOST_ITEMS) return null;
    }
    return new Arguments(positional, named);
  }

  private @Nullable Object negative(Node node, int depth) {
    Node argument = node.child("argument");
    if (argument == null || !source.text(node).startsWith("-")) return null;
    return switch (value(argument, depth - 1)) {
      case Long number -> Math.negateExact(number);
      case Double number -> -number;
      case Drawn drawn -> drawn;
      case null, default -> null;
    };
  }

  private @Nullable Object operation(Node node, int depth) {
    Node leftNode = node.child("left");
    Node rightNode = node.child("right");
    Node operator = node.child("operator");
    if (leftNode == null || rightNode == null || operator == null) return null;
    Object left = value(leftNode, depth - 1);
    Object right = value(rightNode, depth - 1);
    String sign = operator.kind();
    if (left instanceof Drawn || right instanceof Drawn) return elementwise(sign, left, right);
    if (left instanceof Long a && right instanceof Long b) return whole(sign, a, b);
    if (left instanceof Number a && right instanceof Number b) {
      return real(sign, a.doubleValue(), b.doubleValue());
    }
    return left instanceof Sequence items && right instanceof Long times && sign.equals("*")
        ? repeated(items, times)
        : null;
  }

  private static @Nullable Object repeated(Sequence items, long times) {
    if (times < 0 || times * items.items.size() > MOST_ITEMS) return null;
    List<Object> all = new ArrayList<>();
    for (long i = 0; i < times; i++) all.addAll(items.items);
    return new Sequence(items.tuple, all);
  }

  /**
   * Result of an elementwise operation on a floating-point tensor and a number, or on two tensors
   * of the same shape and dtype.
   */
  private static @Nullable Object elementwise(
      String sign, @Nullable Object left, @Nullable Object right) {
    if (!Set.of("+", "-", "*", "/").contains(sign)) return null;
    if (left instanceof Drawn a && right instanceof Drawn)
      return a.equals(right) ? floating(a) : null;
    if (left instanceof Drawn a && right instanceof Number) return floating(a);
    return left instanceof Number && right instanceof Drawn b ? floating(b) : null;
  }

  private static @Nullable Drawn floating(Drawn drawn) {
    return drawn.dtype.contains("float") ? drawn : null;
  }

  private static @Nullable Object whole(String sign, long a, long b) {
    return switch (sign) {
      case "+" -> Math.addExact(a, b);
      case "-" -> Math.subtractExact(a, b);
      case "*" -> Math.multiplyExact(a, b);
      case "//" -> Math.floorDiv(a, b);
      case "%" -> Math.floorMod(a, b);
      case "/" -> b == 0 ? null : (Object) ((double) a / b);
      case "**" -> b < 0 || b > 64 ? null : (Object) Math.powExact(a, (int) b);
      default -> null;
    };
  }

  private static @Nullable Object real(String sign, double a, double b) {
    return switch (sign) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "/" -> b == 0 ? null : (Object) (a / b);
      default -> null;
    };
  }

  /** {@code x.T}. */
  private @Nullable Object transposed(Node node, int depth) {
    Node object = node.child("object");
    Node name = node.child("attribute");
    if (object == null || name == null || !source.text(name).equals("T")) return null;
    return value(object, depth - 1) instanceof Drawn(String dtype, List<Long> shape)
        ? new Drawn(dtype, shape.reversed())
        : null;
  }

  private @Nullable Object called(Node node, int depth) {
    Node function = node.child("function");
    Node list = node.child("arguments");
    if (function == null || list == null || !function.is("attribute")) return null;
    Node object = function.child("object");
    Node name = function.child("attribute");
    if (object == null || name == null) return null;
    String method = source.text(name);
    boolean library = Set.of("torch", "make").contains(source.text(object));
    Object self = library ? null : value(object, depth - 1);
    if (self instanceof Drawn drawn) return ALIKE.contains(method) ? drawn : null;
    Arguments given = library ? arguments(list, depth) : null;
    if (given == null) return null;
    if (ALIKE.contains(method) && !given.positional.isEmpty()) {
      return given.positional.getFirst() instanceof Drawn drawn ? drawn : null;
    }
    if (method.equals("randint")) return integers(given);
    return SIZED.contains(method) ? drawn(method, given, given.positional) : null;
  }

  /** {@code torch.randint(high, size)} or {@code (low, high, size)}. */
  private @Nullable Drawn integers(Arguments given) {
    Object size =
        given.named.containsKey("size")
            ? given.named.get("size")
            : given.positional.isEmpty() ? null : given.positional.getLast();
    return size instanceof Sequence(_, List<Object> items) ? drawn("ints", given, items) : null;
  }

  private @Nullable Drawn drawn(String maker, Arguments given, List<Object> sizes) {
    boolean packed = sizes.size() == 1 && sizes.getFirst() instanceof Sequence;
    List<Long> shape = new ArrayList<>();
    for (Object size : packed ? ((Sequence) sizes.getFirst()).items : sizes) {
      if (!(size instanceof Long number)) return null;
      shape.add(number);
    }
    String usual =
        switch (maker) {
          case "ints" -> "int64";
          case "bools" -> "bool";
          default -> floats;
        };
    Object dtype = given.named.getOrDefault("dtype", usual);
    String text = dtype instanceof Written(String written) ? written : String.valueOf(dtype);
    return new Drawn(text.substring(text.lastIndexOf('.') + 1), shape);
  }
}

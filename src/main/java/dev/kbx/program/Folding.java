package dev.kbx.program;

import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.Bytes;
import dev.kbx.program.Value.Constant;
import dev.kbx.program.Value.External;
import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Computes what is made of constants: mostly text that somebody would rather not write plainly. */
final class Folding {
  /** Combinations of operands beyond which a result counts as unknown. */
  private static final int MAX_RESULTS = 64;

  /** Characters and elements to compute with in one program, results included. */
  private static final int MAX_WORK = 2_000_000;

  /** Characters and elements of a list: it is compared wherever it flows. */
  private static final int MAX_LIST = 1 << 16;

  private final ValueFlow flow;
  private final Budget budget = new Budget(MAX_WORK);

  Folding(ValueFlow flow) {
    this.flow = flow;
  }

  /**
   * Puts into a cell what a function makes of every combination of constants in others.
   *
   * @param fold gets one constant a part; null if it cannot say
   * @param otherwise what it is if a part is no constant
   */
  void combine(
      List<Cell> parts, Function<List<Object>, @Nullable Object> fold, Value otherwise, Cell out) {
    Set<List<Object>> done = new HashSet<>();
    Runnable compute = () -> compute(parts, fold, otherwise, out, done);
    if (parts.isEmpty()) compute.run();
    for (Cell part : parts) {
      flow.each(
          part,
          value -> {
            if (value instanceof Box box) flow.each(box.content, _ -> compute.run());
            compute.run();
          });
    }
  }

  private void compute(
      List<Cell> parts,
      Function<List<Object>, @Nullable Object> fold,
      Value otherwise,
      Cell out,
      Set<List<Object>> done) {
    if (out.full()) return;
    if (!budget.take(parts.size())) {
      flow.add(out, otherwise);
      return;
    }
    List<List<Object>> choices = new ArrayList<>();
    boolean unknown = false;
    int results = 1;
    for (Cell part : parts) {
      List<Object> constants = new ArrayList<>();
      for (Value value : part.values) {
        Object constant = Constants.raw(value, budget);
        if (constant == null) unknown = true;
        else if (!constant.equals(Constants.PENDING)) constants.add(constant);
      }
      choices.add(constants);
      results = Math.min(results * constants.size(), MAX_RESULTS + 1);
    }
    if (results > MAX_RESULTS) unknown = true;
    for (int i = 0; results <= MAX_RESULTS && i < results; i++) {
      List<Object> each = combination(choices, i);
      if (!done.add(each)) continue;
      Object result = folded(fold, each);
      flow.add(out, result == null ? otherwise : new Constant(result));
    }
    if (unknown) flow.add(out, otherwise);
  }

  private @Nullable Object folded(
      Function<List<Object>, @Nullable Object> fold, List<Object> values) {
    Object result = budget.spent() ? null : fold.apply(values);
    if (result == null || !budget.take(result)) return null;
    return result instanceof List<?> && !new Budget(MAX_LIST).take(result) ? null : result;
  }

  /** One of the ways to choose a constant for each part. */
  private static List<Object> combination(List<List<Object>> choices, int number) {
    List<Object> chosen = new ArrayList<>();
    int rest = number;
    for (List<Object> constants : choices.reversed()) {
      chosen.add(constants.get(rest % constants.size()));
      rest /= constants.size();
    }
    return chosen.reversed();
  }

  /** A literal, or text put together from pieces. */
  void string(Node node) {
    Cell cell = flow.cell(node);
    Object literal = flow.literal(node).orElse(null);
    if (literal != null) {
      flow.add(cell, new Constant(literal));
      return;
    }
    String bytes = flow.bytes(node).orElse(null);
    if (bytes != null) {
      flow.add(cell, new Constant(new Bytes(bytes)));
      return;
    }
    List<Cell> parts = new ArrayList<>();
    for (Node part : node.children()) {
      Node expression = part.child("expression");
      if (part.is("string")) parts.add(flow.cell(part));
      if (part.is("string_content")) parts.add(Calls.constant(flow.piece(node, part)));
      if (part.is("interpolation") && expression != null) {
        boolean plain =
            part.children().stream()
                .noneMatch(c -> c.is("format_specifier", "type_conversion", "="));
        parts.add(plain ? flow.cell(expression) : unknown());
      }
    }
    combine(parts, ConstantEvaluator::concatenated, Value.UNKNOWN, cell);
  }

  private static Cell unknown() {
    Cell cell = new Cell();
    cell.values.add(Value.UNKNOWN);
    return cell;
  }

  void binary(Node node) {
    Node left = node.child("left");
    Node right = node.child("right");
    Node operator = node.child("operator");
    if (left == null || right == null || operator == null) return;
    Cell out = flow.cell(node);
    String sign = flow.text(operator);
    combine(
        List.of(flow.cell(left), flow.cell(right)),
        values -> ConstantEvaluator.binary(sign, values.get(0), values.get(1)),
        Value.UNKNOWN,
        out);
  }

  void unary(Node node) {
    Node argument = node.child("argument");
    if (argument == null) return;
    String sign = flow.text(node).substring(0, 1);
    combine(
        List.of(flow.cell(argument)),
        values -> ConstantEvaluator.unary(sign, values.getFirst()),
        Value.UNKNOWN,
        flow.cell(node));
  }

  /** {@code text[start:stop:step]} with constants, whatever else it may be. */
  void slice(Node node, Cell object, Node slice) {
    List<Cell> parts = new ArrayList<>();
    parts.add(object);
    int[] places = {-1, -1, -1};
    int place = 0;
    for (Node each : slice.children()) {
      if (each.is(":")) {
        place++;
      } else if (place < places.length) {
        places[place] = parts.size();
        parts.add(flow.cell(each));
      }
    }
    Cell out = flow.cell(node);
    combine(
        parts,
        values ->
            ConstantEvaluator.slice(
                values.getFirst(),
                places[0] < 0 ? null : values.get(places[0]),
                places[1] < 0 ? null : values.get(places[1]),
                places[2] < 0 ? null : values.get(places[2])),
        Value.UNKNOWN,
        out);
    flow.each(
        object,
        value -> {
          if (value instanceof Box box) flow.add(out, box);
        });
  }

  /** Calls a pure function; false for any other. */
  boolean function(External target, Arguments arguments, Cell result) {
    String path = target.path();
    if (!ConstantEvaluator.knows(path)) return false;
    if (!arguments.starred().isEmpty() || !arguments.mapped().isEmpty()) return false;
    combine(
        positional(arguments),
        values -> ConstantEvaluator.call(path, values),
        target.called(),
        result);
    return true;
  }

  /** Maps a pure function over a constant sequence; false for any other function. */
  boolean map(External function, Cell items, Cell result) {
    if (!ConstantEvaluator.knows(function.path())) return false;
    combine(
        List.of(items),
        values -> ConstantEvaluator.mapped(function.path(), values.getFirst(), budget),
        Value.UNKNOWN,
        result);
    return true;
  }

  void method(Constant receiver, String name, Arguments arguments, Cell result) {
    List<Cell> parts = new ArrayList<>(List.of(Calls.constant(receiver.value())));
    parts.addAll(positional(arguments));
    combine(
        parts,
        values ->
            ConstantEvaluator.method(values.getFirst(), name, values.subList(1, values.size())),
        Value.UNKNOWN,
        result);
  }

  private static List<Cell> positional(Arguments arguments) {
    List<Cell> parts = new ArrayList<>(arguments.positional());
    parts.addAll(arguments.named().values());
    return parts;
  }

  /** The values of a comprehension over a constant sequence, in order. */
  void comprehension(Node node, Node body, Node clause) {
    Node left = clause.child("left");
    Node right = clause.child("right");
    if (left == null || right == null || !left.is("identifier")) return;
    Comprehension each = new Comprehension(flow, flow.text(left), body, budget);
    Cell out = flow.cell(node);
    Box box = new Box(List.of());
    box.open = true;
    flow.flow(flow.cell(body), box.content);
    combine(List.of(flow.cell(right)), values -> each.over(values.getFirst()), box, out);
  }

  /** An element of a constant. */
  @Nullable Object at(Object value, long position) {
    List<Object> items = items(value);
    if (items == null) return null;
    long index = position < 0 ? items.size() + position : position;
    return index >= 0 && index < items.size() ? items.get((int) index) : null;
  }

  /** The elements of a constant; null where it has none, or too many were read before. */
  @Nullable List<Object> items(Object value) {
    return budget.take(value) ? ConstantEvaluator.items(value) : null;
  }
}

package dev.kbx.program;

import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.Constant;
import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Constant folding: computes what is made of constants, such as a name that is put together. */
final class Folding {
  /** Combinations of operands beyond which a result counts as unknown. */
  private static final int MAX_RESULTS = 64;

  /** Pieces of a text; a name has fewer. */
  private static final int MAX_PARTS = 64;

  /** Operands looked at and characters produced in one program. */
  private static final int MAX_WORK = 2_000_000;

  private final ValueFlow flow;
  private int work;

  Folding(ValueFlow flow) {
    this.flow = flow;
  }

  /**
   * Puts into a cell what a function makes of every combination of constants in others.
   *
   * @param fold gets one constant a part; null if it cannot say
   */
  private void combine(List<Cell> parts, Function<List<Object>, @Nullable Object> fold, Cell out) {
    Set<List<Object>> done = new HashSet<>();
    Runnable compute = () -> compute(parts, fold, out, done);
    if (parts.isEmpty()) compute.run();
    if (parts.size() > MAX_PARTS) {
      flow.add(out, Value.UNKNOWN);
      return;
    }
    for (Cell part : parts) {
      flow.each(
          part,
          value -> {
            // A list is known once its last element is.
            if (value instanceof Box box && Constants.of(box) == Constants.PENDING) {
              box.items.forEach(item -> flow.each(item, _ -> compute.run()));
            }
            compute.run();
          });
    }
  }

  private void compute(
      List<Cell> parts,
      Function<List<Object>, @Nullable Object> fold,
      Cell out,
      Set<List<Object>> done) {
    if (out.full()) return;
    work += parts.size();
    if (work > MAX_WORK) {
      flow.add(out, Value.UNKNOWN);
      return;
    }
    List<List<Object>> choices = new ArrayList<>();
    int results = 1;
    for (Cell part : parts) {
      List<Object> constants = new ArrayList<>();
      for (Value value : part.values) {
        Object constant = Constants.of(value);
        if (constant == null) flow.add(out, Value.UNKNOWN);
        else if (constant != Constants.PENDING) constants.add(constant);
        if (value instanceof Box) work += Constants.MAX_ELEMENTS;
      }
      choices.add(constants);
      results = Math.min(results * constants.size(), MAX_RESULTS + 1);
    }
    if (results > MAX_RESULTS) {
      flow.add(out, Value.UNKNOWN);
      return;
    }
    for (int i = 0; i < results; i++) {
      List<Object> each = combination(choices, i);
      if (!done.add(each)) continue;
      Object result = fold.apply(each);
      if (result instanceof String text) work += text.length();
      flow.add(out, result == null ? Value.UNKNOWN : new Constant(result));
    }
  }

  /** One of the ways to choose a constant for each part. */
  private static List<Object> combination(List<List<Object>> choices, int number) {
    List<Object> chosen = new ArrayList<>();
    int rest = number;
    for (List<Object> constants : choices) {
      chosen.add(constants.get(rest % constants.size()));
      rest /= constants.size();
    }
    return chosen;
  }

  /** A literal, or text put together from pieces. */
  void string(Node node) {
    Cell out = flow.cell(node);
    Object literal = flow.literal(node).orElse(null);
    if (literal != null) {
      flow.add(out, new Constant(literal));
      return;
    }
    List<Cell> parts = new ArrayList<>();
    for (Node part : node.children()) {
      Node expression = part.child("expression");
      if (part.is("string")) parts.add(flow.cell(part));
      if (part.is("string_content")) parts.add(Cell.of(new Constant(flow.piece(node, part))));
      if (part.is("interpolation") && expression != null) {
        boolean plain =
            part.children().stream()
                .noneMatch(c -> c.is("format_specifier", "type_conversion", "="));
        parts.add(plain ? flow.cell(expression) : Cell.of(Value.UNKNOWN));
      }
    }
    combine(parts, ConstantEvaluator::concatenated, out);
  }

  void binary(Node operator, Node left, Node right, Cell out) {
    String text = flow.text(operator);
    // `a += b` combines as `a + b` does.
    String sign = text.endsWith("=") ? text.substring(0, text.length() - 1) : text;
    combine(
        List.of(flow.cell(left), flow.cell(right)),
        values -> ConstantEvaluator.binary(sign, values.get(0), values.get(1)),
        out);
  }

  /** A method of a text. */
  void method(String receiver, String name, Arguments arguments, Cell out) {
    combine(
        arguments.positional(),
        values -> ConstantEvaluator.method(receiver, name, values),
        out);
  }
}

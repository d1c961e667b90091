package dev.kbx.program;

import dev.kbx.program.AbstractValue.Constant;
import dev.kbx.program.AbstractValue.Container;
import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Constant folding: computes what is made of constants, such as a name that is put together. */
final class ConstantFolding {
  /** Combinations of operands beyond which a result counts as unknown. */
  private static final int MAX_RESULTS = 64;

  /** Pieces of a text; a name has fewer. */
  private static final int MAX_PARTS = 64;

  /** Operands looked at and characters produced in one program. */
  private static final int MAX_WORK = 2_000_000;

  private final ValueFlow flow;
  private int work;

  ConstantFolding(ValueFlow flow) {
    this.flow = flow;
  }

  /**
   * Puts into a set what a function makes of every combination of constants in others.
   *
   * @param fold gets one constant a part; null if it cannot say
   */
  private void combine(
      List<ValueSet> parts, Function<List<Object>, @Nullable Object> fold, ValueSet out) {
    Set<List<Object>> done = new HashSet<>();
    Runnable compute = () -> compute(parts, fold, out, done);
    if (parts.isEmpty()) compute.run();
    if (parts.size() > MAX_PARTS) {
      flow.add(out, AbstractValue.UNKNOWN);
      return;
    }
    for (ValueSet part : parts) {
      flow.forEach(
          part,
          value -> {
            // A list is known once its last element is.
            if (value instanceof Container container
                && Constants.of(container) == Constants.PENDING) {
              container.items.forEach(item -> flow.forEach(item, _ -> compute.run()));
            }
            compute.run();
          });
    }
  }

  private void compute(
      List<ValueSet> parts,
      Function<List<Object>, @Nullable Object> fold,
      ValueSet out,
      Set<List<Object>> done) {
    if (out.full()) return;
    work += parts.size();
    if (work > MAX_WORK) {
      flow.add(out, AbstractValue.UNKNOWN);
      return;
    }
    List<List<Object>> choices = new ArrayList<>();
    int results = 1;
    for (ValueSet part : parts) {
      List<Object> constants = new ArrayList<>();
      for (AbstractValue value : part.values) {
        Object constant = Constants.of(value);
        if (constant == null) flow.add(out, AbstractValue.UNKNOWN);
        else if (constant != Constants.PENDING) constants.add(constant);
        if (value instanceof Container) work += Constants.MAX_ELEMENTS;
      }
      choices.add(constants);
      results = Math.min(results * constants.size(), MAX_RESULTS + 1);
    }
    if (results > MAX_RESULTS) {
      flow.add(out, AbstractValue.UNKNOWN);
      return;
    }
    for (int i = 0; i < results; i++) {
      List<Object> each = combination(choices, i);
      if (!done.add(each)) continue;
      Object result = fold.apply(each);
      if (result instanceof String text) work += text.length();
      flow.add(out, result == null ? AbstractValue.UNKNOWN : new Constant(result));
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
    ValueSet out = flow.valuesOf(node);
    Object literal = flow.literal(node).orElse(null);
    if (literal != null) {
      flow.add(out, new Constant(literal));
      return;
    }
    List<ValueSet> parts = new ArrayList<>();
    for (Node part : node.children()) {
      Node expression = part.child("expression");
      if (part.is("string")) parts.add(flow.valuesOf(part));
      if (part.is("string_content")) parts.add(ValueSet.of(new Constant(flow.piece(node, part))));
      if (part.is("interpolation") && expression != null) {
        boolean plain =
            part.children().stream()
                .noneMatch(c -> c.is("format_specifier", "type_conversion", "="));
        parts.add(plain ? flow.valuesOf(expression) : ValueSet.of(AbstractValue.UNKNOWN));
      }
    }
    combine(parts, ConstantEvaluator::concatenated, out);
  }

  void binary(Node operator, Node left, Node right, ValueSet out) {
    String text = flow.text(operator);
    // `a += b` combines as `a + b` does.
    String sign = text.endsWith("=") ? text.substring(0, text.length() - 1) : text;
    combine(
        List.of(flow.valuesOf(left), flow.valuesOf(right)),
        values -> ConstantEvaluator.binary(sign, values.get(0), values.get(1)),
        out);
  }

  /** A method of a text. */
  void method(String receiver, String name, Arguments arguments, ValueSet out) {
    combine(
        arguments.positional(), values -> ConstantEvaluator.method(receiver, name, values), out);
  }
}

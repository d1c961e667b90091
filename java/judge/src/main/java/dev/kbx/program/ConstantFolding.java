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

/** Constant folding: arithmetic, and names that are put together from text. */
final class ConstantFolding {
  /** More combinations of operands make the result unknown. */
  private static final int MAX_RESULTS = 64;

  /** Pieces of a string; more make it unknown. */
  private static final int MAX_PARTS = 64;

  /** Limit on operands read and characters produced for one program. */
  private static final int MAX_WORK = 2_000_000;

  private final ValueFlow flow;
  private int work;

  ConstantFolding(ValueFlow flow) {
    this.flow = flow;
  }

  /**
   * Applies a function to every combination of constants of the parts, and adds the results to a
   * set.
   *
   * @param fold gets one constant for each part; returns null for an unknown result
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
            // Wait for the elements of an incomplete list.
            if (value instanceof Container container
                && Constants.PENDING.equals(Constants.of(container))) {
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
        else if (!Constants.PENDING.equals(constant)) constants.add(constant);
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

  /** The combination of that number: one constant for each part. */
  private static List<Object> combination(List<List<Object>> choices, int number) {
    List<Object> chosen = new ArrayList<>();
    int rest = number;
    for (List<Object> constants : choices) {
      chosen.add(constants.get(rest % constants.size()));
      rest /= constants.size();
    }
    return chosen;
  }

  /** A string literal, implicit concatenation or f-string. */
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

  /** A string method. */
  void method(String receiver, String name, Arguments arguments, ValueSet out) {
    combine(
        arguments.positional(), values -> ConstantEvaluator.method(receiver, name, values), out);
  }
}

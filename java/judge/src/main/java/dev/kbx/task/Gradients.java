package dev.kbx.task;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** How a task of gradients is named and stated, of a user's reference and of a suite's task. */
final class Gradients {
  /** What follows the name of the forward in that of its entry and task. */
  static final String SUFFIX = "_backward";

  private Gradients() {}

  /**
   * The statement of such a task, in a sentence or two.
   *
   * @param what is differentiated: {@code `softmax` in `my_ref.py`}
   * @param module whether candidates are modules
   * @param of names of the arguments; empty if these are all floating-point tensors
   */
  static String statement(String what, boolean module, List<String> of) {
    if (module) {
      return "The gradients of %s, of its floating-point tensor inputs and of its parameters, given those of its results. They are taken of the results of `ModelNew.forward` by `torch.autograd.grad`, so kernels of its own need the backward of a `torch.autograd.Function`."
          .formatted(what);
    }
    String arguments =
        of.isEmpty()
            ? "each of its floating-point tensor arguments"
            : String.join(", ", of.stream().map(name -> "`" + name + "`").toList());
    return "The gradients of %s, of %s in order, given those of its results."
        .formatted(what, arguments);
  }

  /**
   * {@code f(x: Tensor, out=None) -> Tensor} as {@code f_backward(grad_output, x: Tensor)}.
   *
   * @param upstream parameters for the gradients of the results
   * @param without parameters that are left out if they have a default
   */
  static String signature(
      String function, String signature, List<String> upstream, Set<String> without) {
    List<String> kept =
        parameters(signature).stream()
            .filter(each -> !(each.contains("=") && without.contains(name(each))))
            .toList();
    Set<String> taken = kept.stream().map(Gradients::name).collect(Collectors.toSet());
    String free = upstream.stream().anyMatch(taken::contains) ? "_" : "";
    // A star that nothing follows is no Python.
    if (!kept.isEmpty() && kept.getLast().equals("*")) kept = kept.subList(0, kept.size() - 1);
    return "%s%s(%s)"
        .formatted(
            function,
            SUFFIX,
            String.join(
                ", ", Stream.concat(upstream.stream().map(free::concat), kept.stream()).toList()));
  }

  private static String name(String parameter) {
    return parameter.split("[:=]", 2)[0].strip();
  }

  /** The parameters of a signature, each with its annotation and default. */
  private static List<String> parameters(String signature) {
    String text = signature.substring(signature.indexOf('(') + 1, signature.lastIndexOf(')'));
    List<String> found = new ArrayList<>();
    int depth = 0;
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if ("([{".indexOf(c) >= 0) depth++;
      if (")]}".indexOf(c) >= 0) depth--;
      if (c != ',' || depth > 0) continue;
      found.add(text.substring(start, i).strip());
      start = i + 1;
    }
    found.add(text.substring(start).strip());
    found.removeIf(String::isEmpty);
    return found;
  }
}

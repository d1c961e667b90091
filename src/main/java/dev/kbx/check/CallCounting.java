package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.Node;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Whether a kernel is launched depends on how often the entry was called. */
final class CallCounting implements Rule {
  @Override
  public About about() {
    return new About(
        "call-counting",
        Severity.REJECT,
        "work that depends on the number of calls",
        "A first call is checked and later ones are timed: so some candidates hope. Here any call"
            + " may be compared.",
        "do the same in every call",
        """
        import triton

        calls = 0


        @triton.jit
        def kernel(x):
            pass


        def kernel_function(x):
            global calls
            calls += 1
            if calls < 3:
                kernel[(1,)](x)
            return x
        """);
  }

  @Override
  public void check(Subject subject, Report report) {
    Program program = subject.program();
    if (!program.parsed()) return;
    Launching launching = new Launching(program);
    Deque<Scope> open = new ArrayDeque<>(launching.entries(subject));
    Set<Scope> seen = new HashSet<>();
    while (!open.isEmpty()) {
      Scope scope = open.pop();
      if (!seen.add(scope)) continue;
      List<Call> sites = launching.sites(scope);
      Set<String> counters = counters(program, scope);
      Predicate<Node> counts = node -> counts(program, node, counters);
      if (!sites.isEmpty() && sites.stream().allMatch(s -> decided(program, s.node(), counts))) {
        for (Call site : sites) report.found(site.place(), "runs in some calls and not in others");
        return;
      }
      for (Call site : sites) open.addAll(launching.targets(site));
    }
  }

  /** What a function adds a number to that is not its own. */
  private static Set<String> counters(Program program, Scope scope) {
    Set<String> outer = new HashSet<>();
    Set<String> found = new HashSet<>();
    for (Node node : scope.node().all()) {
      if (node.is("global_statement", "nonlocal_statement")) {
        for (Node name : node.all()) if (name.is("identifier")) outer.add(program.text(name));
      }
    }
    for (Node node : scope.node().all()) {
      Node left = node.is("augmented_assignment") ? node.child("left") : null;
      Node right = node.child("right");
      if (left == null || right == null || program.constant(right).isEmpty()) continue;
      String name = program.text(left);
      if (left.is("attribute") || outer.contains(name)) found.add(name);
    }
    return found;
  }

  private static boolean counts(Program program, Node condition, Set<String> counters) {
    for (Node part : condition.all()) {
      if (part.is("identifier", "attribute") && counters.contains(program.text(part))) return true;
      Node function = part.is("call") ? part.child("function") : null;
      Node arguments = part.child("arguments");
      if (function == null || arguments == null || !program.text(function).equals("next")) continue;
      for (Node argument : arguments.children()) {
        if (program.paths(argument).contains("itertools.count()")) return true;
      }
    }
    return false;
  }

  private static boolean decided(Program program, Node node, Predicate<Node> counts) {
    Scope scope = program.scopeOf(node);
    for (Optional<Node> at = program.parent(node);
        at.isPresent() && !at.get().equals(scope.node());
        at = program.parent(at.get())) {
      Node condition =
          at.get().is("if_statement", "elif_clause") ? at.get().child("condition") : null;
      if (condition != null && counts.test(condition)) return true;
      if (at.get().is("conditional_expression") && counts.test(at.get())) return true;
    }
    return false;
  }
}

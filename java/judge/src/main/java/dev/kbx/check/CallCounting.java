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

/** Finds launches that depend on how often the entry was called. */
final class CallCounting implements Rule {
  /** Usual names of parameters that outlive a call. */
  private static final Set<String> OWNERS = Set.of("self", "cls");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "call-counting",
        Severity.REJECT,
        "work that depends on the call count",
        "Such code computes in the call that it expects to be checked and skips work in"
            + " those that it expects to be timed. kbx may check any call.",
        "do the same work in every call",
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
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    if (!program.parsed()) return;
    LaunchAnalysis launching = context.launching();
    Deque<Scope> open = new ArrayDeque<>(launching.entries());
    Set<Scope> seen = new HashSet<>();
    while (!open.isEmpty()) {
      Scope scope = open.pop();
      if (!seen.add(scope)) continue;
      List<Call> sites = launching.sites(scope);
      Set<String> counters = counters(program, scope);
      Predicate<Node> counts = node -> counts(program, node, counters);
      if (!sites.isEmpty()
          && sites.stream().allMatch(s -> decided(program, s.node(), sites, counts))) {
        for (Call site : sites)
          report.found(
              site.place(), "runs in some calls only, depending on how often the entry was called");
        return;
      }
      for (Call site : sites) open.addAll(launching.targets(site));
    }
  }

  /** Variables that outlive the call and to which the function adds a number. */
  private static Set<String> counters(Program program, Scope scope) {
    Set<String> found = new HashSet<>();
    for (Node node : scope.node().all()) {
      Node left = node.is("augmented_assignment") ? node.child("left") : null;
      Node right = node.child("right");
      if (left == null || right == null || program.constant(right).isEmpty()) continue;
      String name = program.text(left);
      String owner = name.split("\\.", 2)[0];
      boolean kept = !scope.binds(owner) && !program.scopeOf(node).binds(owner);
      if (left.is("attribute") && OWNERS.contains(owner)) kept = true;
      if (left.is("attribute", "identifier") && kept) found.add(name);
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

  /** Whether a node is evaluated only if a counter says so, without a launch in the other case. */
  private static boolean decided(
      Program program, Node node, List<Call> sites, Predicate<Node> counts) {
    Scope scope = program.scopeOf(node);
    for (Optional<Node> at = program.parent(node);
        at.isPresent() && !at.get().equals(scope.node());
        at = program.parent(at.get())) {
      Node choice = at.get();
      Node condition = choice.is("if_statement", "elif_clause") ? choice.child("condition") : null;
      if (choice.is("conditional_expression")) condition = choice;
      if (condition == null || !counts.test(condition)) continue;
      Node whole = choice.is("elif_clause") ? program.parent(choice).orElse(choice) : choice;
      if (!launchesAnyway(whole, sites)) return true;
    }
    return false;
  }

  private static boolean launchesAnyway(Node choice, List<Call> sites) {
    boolean expression = choice.is("conditional_expression");
    List<Node> parts = choice.children();
    List<Node> ways =
        expression
            ? List.of(parts.getFirst(), parts.getLast())
            : parts.stream().filter(n -> n.is("block", "elif_clause", "else_clause")).toList();
    return (expression || ways.stream().anyMatch(way -> way.is("else_clause")))
        && ways.stream().allMatch(way -> holds(way, sites));
  }

  private static boolean holds(Node way, List<Call> sites) {
    return sites.stream()
        .map(Call::node)
        .anyMatch(site -> way.start() <= site.start() && site.end() <= way.end());
  }
}

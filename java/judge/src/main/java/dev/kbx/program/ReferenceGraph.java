package dev.kbx.program;

import dev.kbx.program.AbstractValue.Definition;
import dev.kbx.program.AbstractValue.External;
import dev.kbx.program.Scope.Kind;
import dev.kbx.syntax.Node;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A conservative call graph: a scope may call every function and class of the file that it refers
 * to.
 */
final class ReferenceGraph {
  private final Map<Scope, Set<Scope>> references = new HashMap<>();

  ReferenceGraph(ValueFlow flow) {
    for (Node node : flow.nodes()) {
      ValueSet values = flow.knownValuesOf(node);
      Set<Scope> owned = values == null ? Set.of() : flow.owned(values);
      if (!owned.isEmpty()) references(flow.scopeOf(node)).addAll(owned);
    }
    for (Scope each : flow.scopes()) {
      Scope type = each.parent().orElse(null);
      if (type == null || type.kind() != Kind.CLASS) continue;
      // A base class of another module may call any method, Python itself the special ones.
      boolean special = each.name().startsWith("__") && each.name().endsWith("__");
      if (special || foreign(type)) references(type).add(each);
    }
  }

  private Set<Scope> references(Scope scope) {
    return references.computeIfAbsent(scope, _ -> new LinkedHashSet<>());
  }

  /** Whether a class inherits from a class of another module. */
  private static boolean foreign(Scope type) {
    Set<Scope> seen = new HashSet<>();
    Deque<Scope> open = new ArrayDeque<>(List.of(type));
    while (!open.isEmpty()) {
      Scope each = open.pop();
      if (!seen.add(each)) continue;
      for (AbstractValue base : each.result.values) {
        if (base instanceof External(String path) && !path.equals("builtins.object")) return true;
        if (base instanceof Definition(Scope inherited, _) && inherited.kind() == Kind.CLASS) {
          open.push(inherited);
        }
      }
    }
    return false;
  }

  /** Scopes that may run when these do, themselves included. */
  Set<Scope> reachable(Collection<Scope> start) {
    Set<Scope> found = new LinkedHashSet<>();
    Deque<Scope> open = new ArrayDeque<>(start);
    while (!open.isEmpty()) {
      Scope scope = open.pop();
      if (found.add(scope)) open.addAll(references.getOrDefault(scope, Set.of()));
    }
    return found;
  }
}

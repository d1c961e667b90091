package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which calls of a file only a branch makes: one that no input may reach. */
final class BranchAnalysis {
  private static final String[] BRANCHES = {
    "if_statement", "conditional_expression", "boolean_operator", "match_statement", "except_clause"
  };

  private final Program program;
  private final Map<Scope, Boolean> known = new HashMap<>();

  BranchAnalysis(Program program) {
    this.program = program;
  }

  /** Whether a call is in a branch, or in a function that only branches call by its name. */
  boolean conditional(Call call) {
    return program.inside(call.node(), BRANCHES) || conditional(call.scope());
  }

  private boolean conditional(Scope scope) {
    if (scope.kind() == Scope.Kind.MODULE) return false;
    Boolean found = known.get(scope);
    if (found != null) return found;
    known.put(scope, false); // A recursive call is no branch of its own.
    List<Call> callers = program.calls().stream().filter(call -> call.of(scope.path())).toList();
    boolean conditional =
        scope.kind() == Scope.Kind.FUNCTION
            && !callers.isEmpty()
            && callers.stream().allMatch(this::conditional);
    known.put(scope, conditional);
    return conditional;
  }
}

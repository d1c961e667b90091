package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The scopes of a program by path, and the calls in each. */
final class ScopeIndex {
  private final Map<String, List<Scope>> scopes = new HashMap<>();
  private final Map<Scope, List<Call>> calls = new HashMap<>();

  ScopeIndex(Program program) {
    for (Scope scope : program.scopes()) {
      scopes.computeIfAbsent(scope.path(), _ -> new ArrayList<>()).add(scope);
    }
    for (Call call : program.calls()) {
      calls.computeIfAbsent(call.scope(), _ -> new ArrayList<>()).add(call);
    }
  }

  /** The scopes of a path; several where a file defines a name more than once. */
  List<Scope> at(String path) {
    return scopes.getOrDefault(path, List.of());
  }

  /** In source order. */
  List<Call> callsIn(Scope scope) {
    return calls.getOrDefault(scope, List.of());
  }
}

package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Kernel;
import dev.kbx.program.Launch;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.Node;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Finds the calls that launch kernels, directly or through functions of the program. */
final class LaunchAnalysis {
  private final ScopeIndex functions;
  private final List<Scope> entries = new ArrayList<>();
  private final Set<Scope> kernels = new HashSet<>();
  private final Set<Node> launches = new HashSet<>();
  private final Set<Scope> launching = new HashSet<>();

  LaunchAnalysis(Program program, ScopeIndex functions, Optional<String> entry) {
    this.functions = functions;
    for (Kernel kernel : program.kernels()) kernels.add(kernel.scope());
    for (Launch launch : program.launches()) launches.add(launch.call().node());
    for (Call call : program.calls()) {
      if (call.target(LaunchAnalysis::replays).isPresent()) launches.add(call.node());
    }
    for (String path : entry.map(program::paths).orElse(Set.of())) entries.addAll(named(path));
    spread(program.scopes());
  }

  /** Replaying a captured graph launches its kernels; another rule judges that. */
  private static boolean replays(String path) {
    return path.endsWith("CUDAGraph().replay");
  }

  private void spread(List<Scope> scopes) {
    Map<Scope, List<Scope>> callers = new HashMap<>();
    Deque<Scope> open = new ArrayDeque<>();
    for (Scope scope : scopes) {
      for (Call call : calls(scope)) {
        if (direct(call)) open.add(scope);
        for (Scope target : targets(call)) {
          callers.computeIfAbsent(target, _ -> new ArrayList<>()).add(scope);
        }
      }
    }
    while (!open.isEmpty()) {
      Scope scope = open.pop();
      if (launching.add(scope)) open.addAll(callers.getOrDefault(scope, List.of()));
    }
  }

  /** Functions of the file that the entry may be; empty without a known entry. */
  List<Scope> entries() {
    return entries;
  }

  private List<Call> calls(Scope scope) {
    return kernels.contains(scope) ? List.of() : functions.callsIn(scope);
  }

  /** Calls in a scope that may launch a kernel. */
  List<Call> sites(Scope scope) {
    return calls(scope).stream()
        .filter(call -> direct(call) || targets(call).stream().anyMatch(launching::contains))
        .toList();
  }

  /** Calls in a scope that may run code that this analysis does not see. */
  List<Call> unseen(Scope scope) {
    return calls(scope).stream()
        .filter(call -> call.targets().isEmpty() || call.target(this::unseen).isPresent())
        .toList();
  }

  private boolean unseen(String path) {
    return EntryAnalysis.unread(path) && named(path).isEmpty();
  }

  /** Whether a call is itself a launch. */
  boolean direct(Call call) {
    return launches.contains(call.node());
  }

  /** The file's own functions that a call may run. */
  Set<Scope> targets(Call call) {
    Set<Scope> found = new HashSet<>();
    for (String target : call.targets()) found.addAll(named(target));
    return found;
  }

  private List<Scope> named(String path) {
    List<Scope> found = new ArrayList<>(functions.at(path));
    found.removeIf(scope -> scope.kind() == Scope.Kind.CLASS);
    if (path.endsWith("()")) {
      String type = path.substring(0, path.length() - 2);
      found.addAll(functions.at(type + ".__call__"));
      found.addAll(functions.at(type + ".forward"));
    }
    found.removeAll(kernels);
    return found;
  }
}

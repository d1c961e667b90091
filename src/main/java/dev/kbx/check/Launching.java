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

/** Which calls of a program launch kernels, by themselves or through the program's functions. */
final class Launching {
  private final Program program;
  private final Map<String, List<Scope>> scopes = new HashMap<>();
  private final Map<Scope, List<Call>> calls = new HashMap<>();
  private final Set<Node> launches = new HashSet<>();
  private final Set<Scope> launching = new HashSet<>();

  Launching(Program program) {
    this.program = program;
    Set<Scope> kernels = new HashSet<>();
    for (Kernel kernel : program.kernels()) kernels.add(kernel.scope());
    for (Scope scope : program.scopes()) {
      if (kernels.contains(scope)) continue;
      scopes.computeIfAbsent(scope.path(), _ -> new ArrayList<>()).add(scope);
    }
    for (Launch launch : program.launches()) launches.add(launch.call().node());
    for (Call call : program.calls()) {
      if (kernels.contains(call.scope())) continue;
      calls.computeIfAbsent(call.scope(), _ -> new ArrayList<>()).add(call);
      if (call.target(Launching::replays).isPresent()) launches.add(call.node());
    }
    spread();
  }

  /** A captured graph launches its kernels again; whether that is honest is another question. */
  private static boolean replays(String path) {
    return path.endsWith("CUDAGraph().replay");
  }

  private void spread() {
    Map<Scope, List<Scope>> callers = new HashMap<>();
    Deque<Scope> open = new ArrayDeque<>();
    calls.forEach((scope, made) -> {
      for (Call call : made) {
        if (launches.contains(call.node())) open.add(scope);
        for (Scope target : targets(call)) {
          callers.computeIfAbsent(target, _ -> new ArrayList<>()).add(scope);
        }
      }
    });
    while (!open.isEmpty()) {
      Scope scope = open.pop();
      if (launching.add(scope)) open.addAll(callers.getOrDefault(scope, List.of()));
    }
  }

  /** Functions of the file that the entry may be; empty where no entry is known. */
  List<Scope> entries(Subject subject) {
    Optional<String> name =
        subject
            .task()
            .flatMap(t ->
                t.entries().stream().filter(entry -> !program.paths(entry).isEmpty()).findFirst());
    List<Scope> found = new ArrayList<>();
    for (String path : name.map(program::paths).orElse(Set.of())) found.addAll(named(path));
    return found;
  }

  /** Calls in a scope that may launch a kernel. */
  List<Call> sites(Scope scope) {
    return calls.getOrDefault(scope, List.of()).stream()
        .filter(call -> direct(call) || targets(call).stream().anyMatch(launching::contains))
        .toList();
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
    List<Scope> found = new ArrayList<>();
    for (Scope scope : scopes.getOrDefault(path, List.of())) {
      if (scope.kind() != Scope.Kind.CLASS) found.add(scope);
    }
    if (path.endsWith("()")) {
      String type = path.substring(0, path.length() - 2);
      for (String method : List.of(".__call__", ".forward")) {
        found.addAll(scopes.getOrDefault(type + method, List.of()));
      }
    }
    return found;
  }
}

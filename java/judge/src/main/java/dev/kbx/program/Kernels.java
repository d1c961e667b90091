package dev.kbx.program;

import dev.kbx.program.Resolver.Slot;
import dev.kbx.program.Value.Constructed;
import dev.kbx.program.Value.Container;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Launcher;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Lists the Triton kernels of a program, their autotuning configurations and their launches. */
final class Kernels {
  private static final Set<String> JIT =
      Set.of(
          ("triton.jit triton.jit() triton.JITFunction triton.runtime.JITFunction"
                  + " triton.runtime.jit.jit triton.runtime.jit.jit()"
                  + " triton.runtime.jit.JITFunction triton.experimental.gluon.jit")
              .split(" "));

  private static final Set<String> AUTOTUNE =
      Set.of(
          ("triton.autotune triton.runtime.autotune triton.runtime.autotuner.autotune"
                  + " triton.runtime.Autotuner triton.runtime.autotuner.Autotuner")
              .split(" "));

  private final PythonSource source;
  private final ScopeBuilder scopes;
  private final Resolver resolver;

  Kernels(PythonSource source, ScopeBuilder scopes, Resolver resolver) {
    this.source = source;
    this.scopes = scopes;
    this.resolver = resolver;
  }

  List<Kernel> kernels(List<Call> calls) {
    Set<Scope> jitted = new LinkedHashSet<>();
    for (Call call : calls) {
      if (call.targets().stream().noneMatch(JIT::contains) || call.arguments().isEmpty()) continue;
      Node first = call.arguments().getFirst();
      Scope defined = scopes.defined(first);
      if (defined != null) jitted.add(defined);
      else jitted.addAll(Value.owned(resolver.valuesOf(first)));
    }
    Map<Scope, List<Call>> operations = operations(calls, jitted);
    Map<Scope, List<Kernel.Config>> configs = configs(calls);
    List<Kernel> kernels = new ArrayList<>();
    for (Scope scope : scopes.scopes()) {
      if (!jitted.contains(scope)) continue;
      List<Call> own = operations.getOrDefault(scope, List.of());
      kernels.add(kernel(scope, own, configs.getOrDefault(scope, List.of())));
    }
    return List.copyOf(kernels);
  }

  private static Map<Scope, List<Call>> operations(List<Call> calls, Set<Scope> kernels) {
    Map<Scope, List<Call>> found = new HashMap<>();
    for (Call call : calls) {
      if (call.targets().stream().noneMatch(Kernels::isOperation)) continue;
      for (Scope at = call.scope(); at != null; at = at.parent().orElse(null)) {
        if (kernels.contains(at)) found.computeIfAbsent(at, _ -> new ArrayList<>()).add(call);
      }
    }
    return found;
  }

  private Kernel kernel(Scope scope, List<Call> operations, List<Kernel.Config> configs) {
    List<String> names = new ArrayList<>();
    Set<String> constexprs = new LinkedHashSet<>();
    for (Scope.Parameter parameter : scope.parameters()) {
      names.add(parameter.name());
      Node type = parameter.type();
      if (type != null && source.text(type).contains("constexpr")) constexprs.add(parameter.name());
    }
    return new Kernel(scope.name(), scope, names, constexprs, operations, configs);
  }

  /** A function of {@code triton.language}; methods of its results are not counted. */
  private static boolean isOperation(String path) {
    return path.startsWith("triton.language.") && !path.contains("(");
  }

  /** The autotuning configurations of each kernel, in source order. */
  private Map<Scope, List<Kernel.Config>> configs(List<Call> calls) {
    Map<Scope, Set<Constructed>> made = new HashMap<>();
    for (Call call : calls) {
      if (call.targets().stream().noneMatch(AUTOTUNE::contains)) continue;
      for (Scope scope : tuned(call)) {
        made.computeIfAbsent(scope, _ -> new LinkedHashSet<>()).addAll(made(call));
      }
    }
    Map<Scope, List<Kernel.Config>> found = new HashMap<>();
    made.forEach((scope, configs) ->
        found.put(
            scope,
            configs.stream()
                .sorted(Comparator.comparingInt(config -> config.call().start()))
                .map(this::config)
                .toList()));
    return found;
  }

  /** The configurations given to an autotuner. */
  private Set<Constructed> made(Call call) {
    Set<Constructed> made = new LinkedHashSet<>();
    for (Node list : call.argument(0, "configs").stream().toList()) {
      for (Value value : resolver.elements(resolver.valuesOf(list))) {
        if (value instanceof Constructed config) made.add(config);
      }
    }
    return made;
  }

  /** The function that the autotuner decorates or is called with. */
  private Set<Scope> tuned(Call call) {
    Node parent = scopes.parent(call.node());
    if (parent != null && parent.is("decorator")) {
      Node definition = scopes.decorated(parent);
      Scope decorated = definition == null ? null : scopes.defined(definition);
      return decorated == null ? Set.of() : Set.of(decorated);
    }
    return parent != null && parent.is("call") && call.node().equals(parent.child("function"))
        ? Value.owned(resolver.valuesOf(parent))
        : Set.of();
  }

  private Kernel.Config config(Constructed config) {
    Slot dictionary = config.given().get(0);
    Map<String, Object> values = new HashMap<>();
    for (Value value : dictionary == null ? Set.<Value>of() : dictionary.values) {
      if (value instanceof Container container) known(container.entries, values);
    }
    Map<String, Object> options = new HashMap<>();
    known(config.given().named(), options);
    return new Kernel.Config(values, options);
  }

  private void known(Map<?, Slot> given, Map<String, Object> constants) {
    given.forEach((name, slot) ->
        resolver.constant(slot.values).ifPresent(known -> constants.put(name.toString(), known)));
  }

  /** Launches of kernels, in source order. */
  List<Launch> launches(List<Call> calls, List<Kernel> kernels) {
    List<Launch> launches = new ArrayList<>();
    for (Call call : calls) {
      Node function = call.node().child("function");
      if (!call.node().is("call") || function == null) continue;
      Set<Scope> launched = new HashSet<>();
      for (Value value : resolver.valuesOf(function)) {
        if (value instanceof Launcher(Scope kernel)) launched.add(kernel);
      }
      Node object = function.is("subscript") ? function.child("value") : null;
      boolean unknown =
          object != null
              && resolver.valuesOf(object).stream()
                  .anyMatch(value -> value instanceof External external && external.unknown());
      List<Kernel> known = kernels.stream().filter(k -> launched.contains(k.scope())).toList();
      Node grid = object == null ? call.keywords().get("grid") : function.child("subscript");
      if (!known.isEmpty() || unknown) launches.add(new Launch(call, known, grid));
    }
    return List.copyOf(launches);
  }
}

package dev.kbx.program;

import dev.kbx.program.AbstractValue.Definition;
import dev.kbx.program.AbstractValue.External;
import dev.kbx.program.AbstractValue.KernelLauncher;
import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Lists the Triton kernels of a program, their autotuning configurations and their launches. */
final class KernelCollector {
  private static final Set<String> JIT =
      Set.of(
          "triton.jit",
          "triton.jit()",
          "triton.JITFunction",
          "triton.runtime.JITFunction",
          "triton.runtime.jit.jit",
          "triton.runtime.jit.jit()",
          "triton.runtime.jit.JITFunction",
          "triton.experimental.gluon.jit");

  private static final Set<String> AUTOTUNE =
      Set.of(
          "triton.autotune",
          "triton.runtime.autotune",
          "triton.runtime.autotuner.autotune",
          "triton.runtime.Autotuner",
          "triton.runtime.autotuner.Autotuner");

  private final ValueFlow flow;

  KernelCollector(ValueFlow flow) {
    this.flow = flow;
  }

  List<Kernel> kernels(List<Call> calls) {
    Set<Scope> jitted = new LinkedHashSet<>();
    for (Call call : calls) {
      if (call.targets().stream().noneMatch(JIT::contains) || call.arguments().isEmpty()) continue;
      Node first = call.arguments().getFirst();
      Scope defined = flow.defined(first);
      if (defined != null) jitted.add(defined);
      else jitted.addAll(flow.owned(flow.valuesOf(first)));
    }
    Map<Scope, List<Call>> operations = operations(calls, jitted);
    Map<Scope, List<Kernel.Config>> configs = configs(calls);
    List<Kernel> kernels = new ArrayList<>();
    for (Scope scope : flow.scopes()) {
      if (!jitted.contains(scope)) continue;
      List<Call> own = operations.getOrDefault(scope, List.of());
      kernels.add(kernel(scope, own, configs.getOrDefault(scope, List.of())));
    }
    return List.copyOf(kernels);
  }

  private static Map<Scope, List<Call>> operations(List<Call> calls, Set<Scope> kernels) {
    Map<Scope, List<Call>> found = new HashMap<>();
    for (Call call : calls) {
      if (call.targets().stream().noneMatch(KernelCollector::isOperation)) continue;
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
      if (type != null && flow.text(type).contains("constexpr")) constexprs.add(parameter.name());
    }
    return new Kernel(scope.name(), scope, names, constexprs, operations, configs);
  }

  /** A function of {@code triton.language}; methods of its results are not counted. */
  private static boolean isOperation(String path) {
    return path.startsWith("triton.language.") && !path.contains("(");
  }

  /** The autotuning configurations of each kernel, in source order. */
  private Map<Scope, List<Kernel.Config>> configs(List<Call> calls) {
    Map<Node, Call> byNode = new HashMap<>();
    for (Call call : calls) byNode.put(call.node(), call);
    Map<Scope, Set<Node>> made = new HashMap<>();
    for (Call call : calls) {
      if (call.targets().stream().noneMatch(AUTOTUNE::contains)) continue;
      Set<Node> configs = made(call);
      for (Scope scope : tuned(call)) {
        made.computeIfAbsent(scope, _ -> new LinkedHashSet<>()).addAll(configs);
      }
    }
    Map<Scope, List<Kernel.Config>> found = new HashMap<>();
    made.forEach((scope, nodes) -> found.put(scope, configs(nodes, byNode)));
    return found;
  }

  private List<Kernel.Config> configs(Set<Node> made, Map<Node, Call> byNode) {
    List<Kernel.Config> configs = new ArrayList<>();
    for (Node node : made.stream().sorted(Comparator.comparingInt(Node::start)).toList()) {
      Call call = byNode.get(node);
      if (call != null) configs.add(config(call));
    }
    return configs;
  }

  /** The calls that construct the configurations given to an autotuner. */
  private Set<Node> made(Call call) {
    Set<Node> made = new LinkedHashSet<>();
    Node list = call.argument(0, "configs").orElse(null);
    if (list == null) return made;
    for (AbstractValue value : flow.valuesOf(list).values) {
      if (!(value instanceof AbstractValue.Container container)) continue;
      for (AbstractValue each : container.content.values) {
        if (each instanceof AbstractValue.Constructed(Node node, _)) made.add(node);
      }
    }
    return made;
  }

  /** The function that the autotuner decorates or is called with. */
  private Set<Scope> tuned(Call call) {
    Node parent = flow.parent(call.node());
    if (parent != null && parent.is("decorator")) {
      Node definition = flow.decorated(parent);
      Scope decorated = definition == null ? null : flow.defined(definition);
      return decorated == null ? Set.of() : Set.of(decorated);
    }
    return parent != null && parent.is("call") && call.node().equals(parent.child("function"))
        ? flow.owned(flow.valuesOf(parent))
        : Set.of();
  }

  private Kernel.Config config(Call call) {
    Map<String, Object> values = new HashMap<>();
    if (!call.arguments().isEmpty()) {
      for (AbstractValue value : flow.valuesOf(call.arguments().getFirst()).values) {
        if (!(value instanceof AbstractValue.Container container)) continue;
        container.entries.forEach(
            (key, set) -> flow.constant(set).ifPresent(known -> values.put(key.toString(), known)));
      }
    }
    Map<String, Object> options = new HashMap<>();
    call.keywords()
        .forEach((name, node) ->
            flow.constant(flow.valuesOf(node)).ifPresent(known -> options.put(name, known)));
    return new Kernel.Config(values, options);
  }

  List<Launch> launches(List<Call> calls, List<Kernel> kernels) {
    List<Launch> launches = new ArrayList<>();
    for (Call call : calls) {
      Node function = call.node().child("function");
      if (!call.node().is("call") || function == null) continue;
      Set<Scope> launched = new HashSet<>();
      boolean unknown = false;
      for (AbstractValue value : flow.valuesOf(function).values) {
        if (value instanceof KernelLauncher launcher) launched.add(launcher.kernel());
      }
      Node grid = function.is("subscript") ? function.child("subscript") : null;
      Node object = function.is("subscript") ? function.child("value") : null;
      if (object != null) {
        for (AbstractValue value : flow.valuesOf(object).values) {
          if (value instanceof External external && external.unknown()) unknown = true;
          if (value instanceof Definition definition
              && definition.scope().kind() == Scope.Kind.FUNCTION) {
            launched.add(definition.scope());
          }
        }
      }
      List<Kernel> known =
          launched.isEmpty()
              ? List.of()
              : kernels.stream().filter(k -> launched.contains(k.scope())).toList();
      if (grid == null) grid = call.keywords().get("grid");
      if (!known.isEmpty() || unknown) launches.add(new Launch(call, known, grid));
    }
    return List.copyOf(launches);
  }
}

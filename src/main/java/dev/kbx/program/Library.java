package dev.kbx.program;

import dev.kbx.program.Access.Kind;
import dev.kbx.program.Value.Constant;
import dev.kbx.program.Value.Container;
import dev.kbx.program.Value.Definition;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Instance;
import dev.kbx.syntax.Node;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The builtins and library functions that look a value up by its name or pass one on. */
final class Library {
  /** The namespace of the file's own top level. */
  static final External OWN_MODULE = new External("builtins.globals()");

  private static final External OWN_NAME = new External("builtins.__name__");

  /** Return their first argument, a wrapper of it or a container with its elements. */
  private static final Set<String> TRANSPARENT =
      Set.of(
          "builtins.classmethod",
          "builtins.dict",
          "builtins.iter",
          "builtins.list",
          "builtins.property",
          "builtins.set",
          "builtins.sorted",
          "builtins.staticmethod",
          "builtins.tuple",
          "functools.cache",
          "functools.lru_cache",
          "functools.lru_cache()",
          "functools.partial",
          "functools.wraps()",
          "torch.compile",
          "torch.compile()",
          "torch.inference_mode()",
          "torch.jit.script",
          "torch.library.wrap_triton",
          "torch.no_grad()",
          "triton.JITFunction",
          "triton.autotune()",
          "triton.heuristics()",
          "triton.jit",
          "triton.jit()",
          "triton.runtime.Autotuner",
          "triton.runtime.JITFunction",
          "triton.runtime.autotuner.Autotuner",
          "triton.runtime.jit.JITFunction",
          "triton.runtime.jit.jit",
          "triton.runtime.jit.jit()");

  /** The name of the first parameter, for functions often called with keywords. */
  private static final Map<String, String> FIRST =
      Map.of(
          "builtins.__import__", "name",
          "importlib.import_module", "name",
          "torch.compile", "model",
          "triton.jit", "fn",
          "unittest.mock.patch", "target",
          "unittest.mock.patch.object", "target");

  /**
   * The arguments of a call.
   *
   * @param positional in order, up to the first star
   */
  record Arguments(List<Set<Value>> positional, Map<String, Set<Value>> named) {
    /** The argument of a parameter; null if it is not given. */
    @Nullable Set<Value> get(int position, String name) {
      return position < positional.size() ? positional.get(position) : named.get(name);
    }

    /** The same, to walk while variables change; none if it is not given. */
    Set<Value> each(int position, String name) {
      Set<Value> given = get(position, name);
      return given == null ? Set.of() : new LinkedHashSet<>(given);
    }
  }

  /** A read, binding or deletion of a path by a call: {@code setattr(torch, "x", y)}. */
  record Effect(Kind kind, String path) {}

  private final Resolver resolver;
  private final Map<Node, Set<Effect>> effects = new HashMap<>();

  Library(Resolver resolver) {
    this.resolver = resolver;
  }

  /** How the call at a node uses paths by name. */
  Set<Effect> effects(Node node) {
    return effects.getOrDefault(node, Set.of());
  }

  /** What a call of another module's function returns. */
  Set<Value> call(External target, Arguments arguments, Node node) {
    String path = function(target.path(), arguments);
    String name = FIRST.getOrDefault(path, "");
    Set<Value> given = arguments.get(0, name);
    if (given != null && TRANSPARENT.contains(path)) return given;
    Set<Value> first = arguments.each(0, name);
    Set<Value> found = new LinkedHashSet<>();
    switch (path) {
      case "builtins.getattr" -> {
        for (Value owner : first) {
          for (Value each : arguments.each(1, "name")) {
            found.addAll(resolver.attribute(owner, text(each)));
          }
        }
        for (Value each : found) use(Kind.READ, each, node);
        found.addAll(arguments.each(2, "default"));
      }
      case "builtins.setattr", "builtins.delattr", "unittest.mock.patch.object" -> {
        Kind kind = path.endsWith("delattr") ? Kind.DELETE : Kind.WRITE;
        for (Value owner : first) {
          for (Value each : arguments.each(1, "attribute")) {
            resolver.bindAttribute(owner, text(each), arguments.each(2, "new"));
            if (owner instanceof External of) use(kind, of.attribute(text(each)), node);
          }
        }
      }
      case "unittest.mock.patch" -> {
        for (Value each : first) use(Kind.WRITE, new External(text(each)), node);
      }
      case "builtins.vars" -> {
        for (Value each : first) found.addAll(resolver.attribute(each, "__dict__"));
      }
      case "builtins.__import__", "importlib.import_module" -> {
        boolean whole = !path.contains("__import__") || arguments.get(3, "fromlist") != null;
        for (Value each : first) found.add(imported(target, each, whole));
        for (Value each : found) use(Kind.READ, each, node);
      }
      case "builtins.eval", "builtins.exec" -> found.add(External.UNKNOWN);
      case "builtins.super" -> found.addAll(parents(resolver.scopeOf(node)));
      case "triton.Config", "builtins.dict" -> {
        Container made = resolver.container(node);
        resolver.put(made, External.UNKNOWN, first);
        arguments.named().forEach((key, value) -> resolver.put(made, new Constant(key), value));
        found.add(made);
      }
      default -> {
        External owner = new External(path.substring(0, Math.max(path.lastIndexOf('.'), 0)));
        boolean looksUp = path.endsWith(".get") && given != null && isNamespace(owner);
        if (!looksUp) return Set.of(target.called());
        for (Value key : first) found.addAll(resolver.element(owner, Set.of(key)));
        for (Value each : found) use(Kind.READ, each, node);
      }
    }
    return found;
  }

  /** {@code object.__setattr__(x, "a", b)} is {@code setattr(x, "a", b)}. */
  private static String function(String path, Arguments arguments) {
    String method = path.substring(path.lastIndexOf('.') + 1);
    int given = arguments.positional.size();
    if (method.equals("__setattr__") && given == 3) return "builtins.setattr";
    if (method.equals("__delattr__") && given == 2) return "builtins.delattr";
    return method.equals("__getattribute__") && given == 2 ? "builtins.getattr" : path;
  }

  /**
   * An element of {@code sys.modules}, of a module's dictionary or of anything else, by its key.
   */
  static External element(External owner, Value key) {
    String path = owner.path();
    if (path.equals("sys.modules")) {
      if (key.equals(OWN_NAME)) return OWN_MODULE;
      return key instanceof Constant(String module) ? new External(module) : owner.element();
    }
    if (path.equals("builtins")) return owner.attribute(text(key));
    if (!path.endsWith(".__dict__")) return owner.element();
    return new External(path.substring(0, path.lastIndexOf('.'))).attribute(text(key));
  }

  private static boolean isNamespace(External owner) {
    return owner.path().equals("sys.modules")
        || owner.path().endsWith(".__dict__")
        || owner.equals(OWN_MODULE);
  }

  /** The text of a constant, or {@link Resolver#ANY}. */
  private static String text(Value value) {
    return value instanceof Constant(String text) ? text : Resolver.ANY;
  }

  private static External imported(External importer, Value name, boolean whole) {
    if (name.equals(OWN_NAME)) return OWN_MODULE;
    if (!(name instanceof Constant(String text))) return importer.called();
    return new External(whole ? text : text.split("\\.", 2)[0]);
  }

  private static Set<Value> parents(Scope from) {
    Scope at = from;
    while (at.kind() != Scope.Kind.CLASS && at.parent().isPresent()) at = at.parent().get();
    Set<Value> found = new LinkedHashSet<>();
    for (Value base : at.result) {
      if (base instanceof Definition(Scope type, _)) found.add(new Instance(type));
      else if (base instanceof External external) found.add(external.called());
    }
    return found;
  }

  private void use(Kind kind, Value value, Node node) {
    if (!(value instanceof External(String path)) || path.equals(Resolver.ANY)) return;
    effects.computeIfAbsent(node, _ -> new LinkedHashSet<>()).add(new Effect(kind, path));
  }
}

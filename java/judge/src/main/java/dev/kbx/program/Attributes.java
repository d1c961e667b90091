package dev.kbx.program;

import dev.kbx.program.Resolver.Slot;
import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Value.Arguments;
import dev.kbx.program.Value.BoundMethod;
import dev.kbx.program.Value.Constant;
import dev.kbx.program.Value.Constructed;
import dev.kbx.program.Value.Container;
import dev.kbx.program.Value.Definition;
import dev.kbx.program.Value.Descriptor;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Instance;
import dev.kbx.program.Value.Launcher;
import dev.kbx.program.Value.Namespace;
import dev.kbx.program.Value.ObjectDict;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Reads and binds attributes of values. */
final class Attributes {
  /** Classes of the file that an attribute is looked up in; in others it may be anything. */
  private static final int MAX_BASES = 64;

  /** Base classes whose {@code apply} runs the {@code forward} of the subclass. */
  private static final Set<String> DIFFERENTIABLE =
      Set.of("torch.autograd.Function", "torch.autograd.function.Function");

  private final Resolver resolver;
  private final ScopeBuilder scopes;
  private final Calls calls;

  Attributes(Resolver resolver, ScopeBuilder scopes, Library library) {
    this.resolver = resolver;
    this.scopes = scopes;
    calls = new Calls(resolver, this, library);
  }

  /** Calls of values, which read attributes in turn. */
  Calls calls() {
    return calls;
  }

  /** An attribute of one value. */
  Set<Value> attribute(Value owner, String name) {
    return switch (owner) {
      case External external when name.equals("__dict__") -> Set.of(new ObjectDict(external));
      case External external -> Set.of(external.attribute(name));
      case Constructed(_, External of, _) -> Set.of(of.attribute(name));
      case Definition(Scope type, _) when type.kind() == Kind.CLASS -> ofClass(type, owner, name);
      case Instance(Scope type) -> ofClass(type, owner, name);
      case Definition(Scope function, _) -> ofFunction(function, name);
      case Namespace(Scope scope) -> ofNamespace(scope, name);
      case Container _, Constant _, ObjectDict _ -> Set.of(new BoundMethod(owner, name));
      default -> Set.of(new External("?." + name));
    };
  }

  private Set<Value> ofFunction(Scope function, String name) {
    return switch (name) {
      case "run", "warmup" -> Set.of(new Launcher(function));
      case "fn", "__wrapped__" -> Set.of(new Definition(function, null));
      case "__globals__" -> Set.of(new Namespace(resolver.module()));
      case "__dict__" -> Set.of(new ObjectDict(new Definition(function, null)));
      default -> {
        Set<Value> found = lookUp(function, name);
        if (!stored(name)) found.add(new External("?." + name));
        yield found;
      }
    };
  }

  private boolean stored(String name) {
    return scopes.attributes().contains(name);
  }

  /** An attribute of a class of the file or of its instance. */
  private Set<Value> ofClass(Scope type, Value owner, String name) {
    boolean instance = owner instanceof Instance;
    Value self = new Definition(type, null);
    Set<Value> found = new LinkedHashSet<>();
    if (name.equals("__dict__")) found.add(new ObjectDict(instance ? owner : self));
    if (name.equals("__class__") && instance) found.add(self);
    missing(type, instance, name, found);
    if (name.equals("apply") && !instance) applied(type, found);
    if (name.equals("__setattr__")) found.add(new BoundMethod(owner, name));
    for (Value value : lookUp(type, name)) {
      switch (value) {
        case Descriptor(String kind, Definition function) when kind.equals("property") -> {
          if (!instance) found.add(new Definition(function.scope(), null));
          else found.addAll(calls.call(new Definition(function.scope(), owner), Arguments.NONE));
        }
        case Descriptor(String kind, Definition function) ->
            found.add(new Definition(function.scope(), kind.equals("classmethod") ? self : null));
        case Definition(Scope scope, _) when instance && isMethod(scope) ->
            found.add(new Definition(scope, owner));
        default -> found.add(value);
      }
    }
    return found;
  }

  /** {@code apply} of a subclass of {@code torch.autograd.Function} runs its {@code forward}. */
  private void applied(Scope type, Set<Value> found) {
    // With setup_context of its own, forward gets no context.
    Value context = type.variables.containsKey("setup_context") ? null : External.UNKNOWN;
    for (Value base : resolver.read(type.result)) {
      if (!(base instanceof External(String path)) || !DIFFERENTIABLE.contains(path)) continue;
      for (Value value : lookUp(type, "forward")) {
        Value function = value instanceof Descriptor descriptor ? descriptor.function() : value;
        if (function instanceof Definition(Scope scope, _)) {
          found.add(new Definition(scope, context));
        }
      }
    }
  }

  /** What an attribute may be that the class does not define: inherited, or made on demand. */
  private void missing(Scope type, boolean instance, String name, Set<Value> found) {
    if (stored(name)) return;
    for (Value base : resolver.read(type.result)) {
      if (base instanceof External external && !external.unknown()) {
        found.add((instance ? external.called() : external).attribute(name));
      }
    }
    if (name.equals(Resolver.ANY)) {
      for (Slot each : List.copyOf(type.variables.values())) found.addAll(resolver.read(each));
    }
    found.add(new External("?." + name));
  }

  private Set<Value> ofNamespace(Scope scope, String name) {
    if (name.equals("__dict__")) return Set.of(new Namespace(scope));
    if (name.equals(Resolver.ANY)) {
      // Any of its functions may be meant, so any may run.
      Set<Value> found = new LinkedHashSet<>();
      for (Slot each : List.copyOf(scope.variables.values())) found.addAll(resolver.read(each));
      found.add(External.UNKNOWN);
      return found;
    }
    if (Library.isDictionaryMethod(name) && !scope.variables.containsKey(name)) {
      return Set.of(new BoundMethod(new Namespace(scope), name));
    }
    return new LinkedHashSet<>(resolver.read(resolver.variable(name, scope)));
  }

  /** What is assigned to an attribute of a class or function, inherited attributes included. */
  Set<Value> lookUp(Scope owner, String name) {
    Set<Value> found = new LinkedHashSet<>();
    Set<Scope> lineage = lineage(owner);
    for (Scope scope : lineage) {
      found.addAll(resolver.read(scope.attribute(name)));
      if (!resolver.read(scope.attribute(Resolver.ANY)).isEmpty()) found.add(External.UNKNOWN);
      Slot variable = scope.kind() == Kind.CLASS ? scope.variables.get(name) : null;
      if (variable != null) found.addAll(resolver.read(variable));
    }
    if (lineage.size() >= MAX_BASES) found.add(External.UNKNOWN);
    return found;
  }

  /** A class of the file and those of the file that it inherits from; a function alone. */
  private Set<Scope> lineage(Scope owner) {
    Set<Scope> found = new LinkedHashSet<>();
    Deque<Scope> next = new ArrayDeque<>(List.of(owner));
    while (!next.isEmpty() && found.size() < MAX_BASES) {
      Scope scope = next.pop();
      if (!found.add(scope) || scope.kind() != Kind.CLASS) continue;
      for (Value base : resolver.read(scope.result)) {
        if (base instanceof Definition(Scope type, _) && type.kind() == Kind.CLASS) next.add(type);
      }
    }
    return found;
  }

  /** Binds an attribute of one value, or a name in a namespace. */
  void set(Value owner, String name, Collection<Value> values) {
    switch (owner) {
      case Instance(Scope type) -> resolver.add(type.attribute(name), values);
      case Definition(Scope scope, _) -> resolver.add(scope.attribute(name), values);
      case Descriptor(_, Definition function) -> set(function, name, values);
      case Namespace(Scope scope) when !name.equals(Resolver.ANY) ->
          resolver.add(resolver.variable(name, scope), values);
      case Namespace(Scope scope) -> {
        // Any of its names may be bound to anything.
        resolver.add(scope.attribute(Resolver.ANY), Set.of(External.UNKNOWN));
        for (Slot each : List.copyOf(scope.variables.values()))
          resolver.add(each, Set.of(External.UNKNOWN));
      }
      case ObjectDict(Value of) when !(of instanceof ObjectDict) -> set(of, name, values);
      default -> {}
    }
  }

  /** Whether a class inherits from a class of another module. */
  boolean isForeign(Scope type) {
    for (Scope each : lineage(type)) {
      for (Value base : resolver.read(each.result)) {
        if (base instanceof External(String path) && !path.equals("builtins.object")) return true;
      }
    }
    return lineage(type).size() >= MAX_BASES;
  }

  static boolean isMethod(Scope scope) {
    return scope.kind() != Kind.CLASS
        && scope.parent().filter(around -> around.kind() == Kind.CLASS).isPresent();
  }
}

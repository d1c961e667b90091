package dev.kbx.program;

import dev.kbx.program.AbstractValue.BoundMethod;
import dev.kbx.program.AbstractValue.Constant;
import dev.kbx.program.AbstractValue.Constructed;
import dev.kbx.program.AbstractValue.Container;
import dev.kbx.program.AbstractValue.Definition;
import dev.kbx.program.AbstractValue.Descriptor;
import dev.kbx.program.AbstractValue.External;
import dev.kbx.program.AbstractValue.Instance;
import dev.kbx.program.AbstractValue.KernelLauncher;
import dev.kbx.program.AbstractValue.ObjectDict;
import dev.kbx.program.AbstractValue.ScopeDict;
import dev.kbx.program.Scope.Kind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads and binds attributes and elements of values. */
final class Attributes {
  /** Stands for an attribute name that is not a constant. */
  static final String ANY = "?";

  private static final External SYS_MODULES = new External("sys.modules");
  private static final External BUILTINS = new External("builtins");
  private static final External OWN_NAME = new External("builtins.__name__");

  /** Base classes whose {@code apply} runs the {@code forward} of the subclass. */
  private static final Set<External> DIFFERENTIABLE =
      Set.of(
          new External("torch.autograd.Function"),
          new External("torch.autograd.function.Function"));

  private record Key(Scope type, String name) {}

  private final ValueFlow flow;
  private final CallBinding calls;
  private final Map<Key, ValueSet> attributes = new HashMap<>();

  Attributes(ValueFlow flow, CallBinding calls) {
    this.flow = flow;
    this.calls = calls;
  }

  /** Reads an attribute of one value. */
  void get(AbstractValue owner, String name, ValueSet into) {
    switch (owner) {
      case External external when name.equals("__dict__") ->
          flow.add(into, new ObjectDict(external));
      case External external -> flow.add(into, external.attribute(name));
      case Constructed(_, External of) -> flow.add(into, of.attribute(name));
      case Definition definition when definition.scope().kind() == Kind.CLASS ->
          ofClass(definition.scope(), name, into);
      case Definition definition -> ofFunction(definition, name, into);
      case Instance instance -> ofInstance(instance, name, into);
      case ScopeDict(Scope scope) -> ofNames(scope, name, into);
      case Container _, Constant _, ObjectDict _ -> flow.add(into, new BoundMethod(owner, name));
      default -> flow.add(into, new External("?." + name));
    }
  }

  private void ofFunction(Definition definition, String name, ValueSet into) {
    switch (name) {
      case "run", "warmup" -> flow.add(into, new KernelLauncher(definition.scope()));
      case "fn", "__wrapped__" -> flow.add(into, new Definition(definition.scope(), null));
      case "__globals__" -> flow.add(into, new ScopeDict(flow.module()));
      default -> {
        flow.copy(attribute(definition.scope(), name), into);
        if (!flow.storesAttribute(name)) flow.add(into, new External("?." + name));
      }
    }
  }

  private void ofClass(Scope type, String name, ValueSet into) {
    if (name.equals("__dict__")) flow.add(into, new ObjectDict(new Definition(type, null)));
    missing(type, name, "", into);
    if (name.equals("apply")) applied(type, into);
    flow.forEach(
        attribute(type, name),
        value -> {
          if (value instanceof Descriptor(String kind, Definition function)) {
            AbstractValue receiver = kind.equals("classmethod") ? new Definition(type, null) : null;
            flow.add(into, new Definition(function.scope(), receiver));
          } else {
            flow.add(into, value);
          }
        });
  }

  /** {@code apply} of a subclass of {@code torch.autograd.Function} runs its {@code forward}. */
  private void applied(Scope type, ValueSet into) {
    // With setup_context of its own, forward gets no context.
    AbstractValue context =
        type.variables.containsKey("setup_context") ? null : AbstractValue.UNKNOWN;
    flow.forEach(
        type.result,
        base -> {
          if (!(base instanceof External external) || !DIFFERENTIABLE.contains(external)) return;
          flow.forEach(
              attribute(type, "forward"),
              value -> {
                AbstractValue function =
                    value instanceof Descriptor descriptor ? descriptor.function() : value;
                if (function instanceof Definition definition)
                  flow.add(into, new Definition(definition.scope(), context));
              });
        });
  }

  private void ofInstance(Instance instance, String name, ValueSet into) {
    Scope type = instance.type();
    if (name.equals("__dict__")) flow.add(into, new ObjectDict(instance));
    if (name.equals("__class__")) flow.add(into, new Definition(type, null));
    missing(type, name, "()", into);
    flow.forEach(
        attribute(type, name),
        value -> {
          switch (value) {
            case Descriptor(String kind, Definition function) when kind.equals("property") ->
                calls.call(new Definition(function.scope(), instance), Arguments.NONE, into, null);
            case Descriptor(String kind, Definition function) ->
                flow.add(
                    into,
                    new Definition(
                        function.scope(),
                        kind.equals("classmethod") ? new Definition(type, null) : null));
            case Definition(Scope scope, _) when isMethod(scope) ->
                flow.add(into, new Definition(scope, instance));
            default -> flow.add(into, value);
          }
        });
  }

  private static boolean isMethod(Scope scope) {
    return scope.kind() != Kind.CLASS
        && scope.parent().map(around -> around.kind() == Kind.CLASS).orElse(false);
  }

  private void ofNames(Scope scope, String name, ValueSet into) {
    if (name.equals("__dict__")) flow.add(into, new ScopeDict(scope));
    else if (scope.variables.containsKey(name)) flow.copy(flow.variable(name, scope), into);
    else if (name.equals(ANY)) {
      // Any of its functions may be meant, so any may run.
      for (ValueSet each : List.copyOf(scope.variables.values())) flow.copy(each, into);
      flow.add(into, AbstractValue.UNKNOWN);
    } else flow.add(into, new BoundMethod(new ScopeDict(scope), name));
  }

  /** An attribute that the class does not define: inherited, or made by __getattr__. */
  private void missing(Scope type, String name, String instance, ValueSet into) {
    flow.forEach(
        type.result,
        base -> {
          if (base instanceof External external && !external.unknown()) {
            if (!flow.storesAttribute(name)) {
              flow.add(into, new External(external.path() + instance).attribute(name));
            }
          }
        });
    if (flow.storesAttribute(name)) return;
    if (name.equals(ANY)) {
      for (ValueSet each : List.copyOf(type.variables.values())) flow.copy(each, into);
    }
    if (!name.startsWith("__")) {
      ValueSet getter = type.variables.get("__getattr__");
      if (getter != null) {
        flow.forEach(
            getter,
            value -> {
              if (value instanceof Definition(Scope scope, _)) {
                calls.call(new Definition(scope, new Instance(type)), Arguments.NONE, into, null);
              }
            });
      }
    }
    flow.add(into, new External("?." + name));
  }

  /** An attribute of a class and its instances, inherited ones included. */
  ValueSet attribute(Scope type, String name) {
    Key key = new Key(type, name);
    ValueSet known = attributes.get(key);
    if (known != null) return known;
    ValueSet set = new ValueSet();
    attributes.put(key, set);
    ValueSet variable = type.kind() == Kind.CLASS ? type.variables.get(name) : null;
    if (variable != null) flow.copy(variable, set);
    flow.forEach(
        type.kind() == Kind.CLASS ? type.result : new ValueSet(),
        base -> {
          if (base instanceof Definition(Scope scope, _) && scope.kind() == Kind.CLASS) {
            flow.copy(attribute(scope, name), set);
          }
        });
    return set;
  }

  /** Binds an attribute of one value. */
  void set(AbstractValue owner, String name, ValueSet value) {
    switch (owner) {
      case Instance instance -> flow.copy(value, attribute(instance.type(), name));
      case Definition definition -> flow.copy(value, attribute(definition.scope(), name));
      case ScopeDict names -> flow.copy(value, flow.variable(name, names.scope()));
      case ObjectDict(AbstractValue of) when !(of instanceof ObjectDict) -> set(of, name, value);
      default -> {}
    }
  }

  /** Reads an element of one value; the index is null where it is unknown. */
  void element(AbstractValue owner, @Nullable ValueSet index, ValueSet into) {
    switch (owner) {
      case Definition definition when definition.scope().kind() != Kind.CLASS ->
          flow.add(into, new KernelLauncher(definition.scope()));
      case Definition definition -> {
        flow.add(into, definition);
        special(definition, "__class_getitem__", index, into);
      }
      case Instance instance -> special(instance, "__getitem__", index, into);
      default -> {
        if (index == null) any(owner, into);
        else flow.forEach(index, key -> at(owner, key, into));
      }
    }
  }

  private void special(AbstractValue owner, String name, @Nullable ValueSet index, ValueSet into) {
    ValueSet method = new ValueSet();
    get(owner, name, method);
    Arguments arguments = index == null ? Arguments.NONE : Arguments.of(index);
    flow.forEach(method, each -> calls.call(each, arguments, into, null));
  }

  private void at(AbstractValue owner, AbstractValue key, ValueSet into) {
    Object known = key instanceof Constant(Object constant) ? constant : null;
    switch (owner) {
      case Container container -> {
        ValueSet entry = known == null ? null : entry(container, known);
        flow.copy(entry == null ? container.content : entry, into);
        if (entry != null && container.changed) flow.copy(container.content, into);
      }
      case External external when external.equals(SYS_MODULES) -> {
        if (key.equals(OWN_NAME)) flow.add(into, new ScopeDict(flow.module()));
        else if (known instanceof String module) flow.add(into, new External(module));
        else flow.add(into, SYS_MODULES.element());
      }
      case External external when external.equals(BUILTINS) ->
          flow.add(into, external.attribute(known instanceof String name ? name : ANY));
      case ObjectDict(AbstractValue of) -> get(of, known instanceof String name ? name : ANY, into);
      case ScopeDict names -> get(names, known instanceof String name ? name : ANY, into);
      default -> any(owner, into);
    }
  }

  private static @Nullable ValueSet entry(Container container, Object key) {
    if (key instanceof Long at && !container.items.isEmpty()) {
      long index = at < 0 ? container.items.size() + at : at;
      return index >= 0 && index < container.items.size() ? container.items.get((int) index) : null;
    }
    return container.entries.get(key);
  }

  /** Reads any element of one value. */
  void any(AbstractValue owner, ValueSet into) {
    switch (owner) {
      case Container container -> flow.copy(container.content, into);
      case External external -> flow.add(into, external.element());
      case ObjectDict(AbstractValue of) -> get(of, ANY, into);
      case ScopeDict names -> get(names, ANY, into);
      default -> flow.add(into, AbstractValue.UNKNOWN);
    }
  }

  /** The element of a set's values at a fixed position. */
  ValueSet item(ValueSet value, int index) {
    ValueSet item = new ValueSet();
    flow.forEach(
        value,
        each -> {
          switch (each) {
            case Container container when index < container.items.size() ->
                flow.copy(container.items.get(index), item);
            default -> any(each, item);
          }
        });
    return item;
  }

  ValueSet elements(ValueSet value) {
    ValueSet elements = new ValueSet();
    flow.forEach(value, each -> any(each, elements));
    return elements;
  }
}

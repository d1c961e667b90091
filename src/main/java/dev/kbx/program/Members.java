package dev.kbx.program;

import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.Constant;
import dev.kbx.program.Value.Descriptor;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Instance;
import dev.kbx.program.Value.Launcher;
import dev.kbx.program.Value.Made;
import dev.kbx.program.Value.Method;
import dev.kbx.program.Value.Names;
import dev.kbx.program.Value.Namespace;
import dev.kbx.program.Value.Own;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Attributes and elements of values. */
final class Members {
  /** The name of an attribute that cannot be read. */
  static final String ANY = "?";

  private static final External SYS_MODULES = new External("sys.modules");
  private static final External BUILTINS = new External("builtins");
  private static final External OWN_NAME = new External("builtins.__name__");

  /** Whose {@code apply} runs the {@code forward} of the class that it is called on. */
  private static final Set<External> DIFFERENTIABLE =
      Set.of(
          new External("torch.autograd.Function"),
          new External("torch.autograd.function.Function"));

  private record Key(Scope type, String name) {}

  private final ValueFlow flow;
  private final Calls calls;
  private final Map<Key, Cell> attributes = new HashMap<>();

  Members(ValueFlow flow, Calls calls) {
    this.flow = flow;
    this.calls = calls;
  }

  /** Reads an attribute of one value. */
  void get(Value owner, String name, Cell into) {
    switch (owner) {
      case External external when name.equals("__dict__") ->
          flow.add(into, new Namespace(external));
      case External external -> flow.add(into, external.attribute(name));
      case Made(_, External of) -> flow.add(into, of.attribute(name));
      case Own own when own.scope().kind() == Kind.CLASS -> ofClass(own.scope(), name, into);
      case Own own -> ofFunction(own, name, into);
      case Instance instance -> ofInstance(instance, name, into);
      case Names(Scope scope) -> ofNames(scope, name, into);
      case Box _, Constant _, Namespace _ -> flow.add(into, new Method(owner, name));
      default -> flow.add(into, new External("?." + name));
    }
  }

  private void ofFunction(Own own, String name, Cell into) {
    switch (name) {
      case "run", "warmup" -> flow.add(into, new Launcher(own.scope()));
      case "fn", "__wrapped__" -> flow.add(into, new Own(own.scope(), null));
      case "__globals__" -> flow.add(into, new Names(flow.module()));
      default -> {
        flow.flow(attribute(own.scope(), name), into);
        if (!flow.storesAttribute(name)) flow.add(into, new External("?." + name));
      }
    }
  }

  private void ofClass(Scope type, String name, Cell into) {
    if (name.equals("__dict__")) flow.add(into, new Namespace(new Own(type, null)));
    missing(type, name, "", into);
    if (name.equals("apply")) applied(type, into);
    flow.each(
        attribute(type, name),
        value -> {
          if (value instanceof Descriptor(String kind, Own function)) {
            Value receiver = kind.equals("classmethod") ? new Own(type, null) : null;
            flow.add(into, new Own(function.scope(), receiver));
          } else {
            flow.add(into, value);
          }
        });
  }

  /** What {@code apply} of a function that can be differentiated runs. */
  private void applied(Scope type, Cell into) {
    // With setup_context of its own, forward gets no context.
    Value context = type.variables.containsKey("setup_context") ? null : Value.UNKNOWN;
    flow.each(
        type.result,
        base -> {
          if (!(base instanceof External external) || !DIFFERENTIABLE.contains(external)) return;
          flow.each(
              attribute(type, "forward"),
              value -> {
                Value function =
                    value instanceof Descriptor descriptor ? descriptor.function() : value;
                if (function instanceof Own own) flow.add(into, new Own(own.scope(), context));
              });
        });
  }

  private void ofInstance(Instance instance, String name, Cell into) {
    Scope type = instance.type();
    if (name.equals("__dict__")) flow.add(into, new Namespace(instance));
    if (name.equals("__class__")) flow.add(into, new Own(type, null));
    missing(type, name, "()", into);
    flow.each(
        attribute(type, name),
        value -> {
          switch (value) {
            case Descriptor(String kind, Own function) when kind.equals("property") ->
                calls.call(new Own(function.scope(), instance), Arguments.NONE, into, null);
            case Descriptor(String kind, Own function) ->
                flow.add(
                    into,
                    new Own(
                        function.scope(), kind.equals("classmethod") ? new Own(type, null) : null));
            case Own(Scope scope, _) when isMethod(scope) ->
                flow.add(into, new Own(scope, instance));
            default -> flow.add(into, value);
          }
        });
  }

  private static boolean isMethod(Scope scope) {
    return scope.kind() != Kind.CLASS
        && scope.parent().map(around -> around.kind() == Kind.CLASS).orElse(false);
  }

  private void ofNames(Scope scope, String name, Cell into) {
    if (name.equals("__dict__")) flow.add(into, new Names(scope));
    else if (scope.variables.containsKey(name)) flow.flow(flow.variable(name, scope), into);
    else if (name.equals(ANY)) {
      // Any of its functions: found by whoever looks for what may run.
      for (Cell each : List.copyOf(scope.variables.values())) flow.flow(each, into);
      flow.add(into, Value.UNKNOWN);
    } else flow.add(into, new Method(new Names(scope), name));
  }

  /** What an attribute may be that the class does not define itself. */
  private void missing(Scope type, String name, String instance, Cell into) {
    flow.each(
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
      for (Cell each : List.copyOf(type.variables.values())) flow.flow(each, into);
    }
    if (!name.startsWith("__")) {
      Cell getter = type.variables.get("__getattr__");
      if (getter != null) {
        flow.each(
            getter,
            value -> {
              if (value instanceof Own(Scope scope, _)) {
                calls.call(new Own(scope, new Instance(type)), Arguments.NONE, into, null);
              }
            });
      }
    }
    flow.add(into, new External("?." + name));
  }

  /** An attribute of a class and its instances, inherited ones included. */
  Cell attribute(Scope type, String name) {
    Key key = new Key(type, name);
    Cell known = attributes.get(key);
    if (known != null) return known;
    Cell cell = new Cell();
    attributes.put(key, cell);
    Cell variable = type.kind() == Kind.CLASS ? type.variables.get(name) : null;
    if (variable != null) flow.flow(variable, cell);
    flow.each(
        type.kind() == Kind.CLASS ? type.result : new Cell(),
        base -> {
          if (base instanceof Own(Scope scope, _) && scope.kind() == Kind.CLASS) {
            flow.flow(attribute(scope, name), cell);
          }
        });
    return cell;
  }

  /** Binds an attribute of one value. */
  void set(Value owner, String name, Cell value) {
    switch (owner) {
      case Instance instance -> flow.flow(value, attribute(instance.type(), name));
      case Own own -> flow.flow(value, attribute(own.scope(), name));
      case Names names -> flow.flow(value, flow.variable(name, names.scope()));
      case Namespace(Value of) when !(of instanceof Namespace) -> set(of, name, value);
      default -> {}
    }
  }

  /** Reads an element of one value; index is null where there is none to look at. */
  void element(Value owner, @Nullable Cell index, Cell into) {
    switch (owner) {
      case Own own when own.scope().kind() != Kind.CLASS ->
          flow.add(into, new Launcher(own.scope()));
      case Own own -> {
        flow.add(into, own);
        special(own, "__class_getitem__", index, into);
      }
      case Instance instance -> special(instance, "__getitem__", index, into);
      default -> {
        if (index == null) any(owner, into);
        else flow.each(index, key -> at(owner, key, into));
      }
    }
  }

  private void special(Value owner, String name, @Nullable Cell index, Cell into) {
    Cell method = new Cell();
    get(owner, name, method);
    Arguments arguments = index == null ? Arguments.NONE : Arguments.of(index);
    flow.each(method, each -> calls.call(each, arguments, into, null));
  }

  private void at(Value owner, Value key, Cell into) {
    Object known = key instanceof Constant(Object constant) ? constant : null;
    switch (owner) {
      case Box box -> {
        Cell entry = known == null ? null : entry(box, known);
        flow.flow(entry == null ? box.content : entry, into);
        if (entry != null && box.changed) flow.flow(box.content, into);
      }
      case External external when external.equals(SYS_MODULES) -> {
        if (key.equals(OWN_NAME)) flow.add(into, new Names(flow.module()));
        else if (known instanceof String module) flow.add(into, new External(module));
        else flow.add(into, SYS_MODULES.element());
      }
      case External external when external.equals(BUILTINS) ->
          flow.add(into, external.attribute(known instanceof String name ? name : ANY));
      case Namespace(Value of) -> get(of, known instanceof String name ? name : ANY, into);
      case Names names -> get(names, known instanceof String name ? name : ANY, into);
      default -> any(owner, into);
    }
  }

  private static @Nullable Cell entry(Box box, Object key) {
    if (key instanceof Long at && !box.items.isEmpty()) {
      long index = at < 0 ? box.items.size() + at : at;
      return index >= 0 && index < box.items.size() ? box.items.get((int) index) : null;
    }
    return box.entries.get(key);
  }

  /** Any element. */
  void any(Value owner, Cell into) {
    switch (owner) {
      case Box box -> flow.flow(box.content, into);
      case External external -> flow.add(into, external.element());
      case Namespace(Value of) -> get(of, ANY, into);
      case Names names -> get(names, ANY, into);
      default -> flow.add(into, Value.UNKNOWN);
    }
  }

  /** The element of a cell's values at a fixed position. */
  Cell item(Cell value, int index) {
    Cell item = new Cell();
    flow.each(
        value,
        each -> {
          switch (each) {
            case Box box when index < box.items.size() -> flow.flow(box.items.get(index), item);
            default -> any(each, item);
          }
        });
    return item;
  }

  Cell elements(Cell value) {
    Cell elements = new Cell();
    flow.each(value, each -> any(each, elements));
    return elements;
  }
}

package dev.kbx.program;

import dev.kbx.program.AbstractValue.AttributeGetter;
import dev.kbx.program.AbstractValue.BoundMethod;
import dev.kbx.program.AbstractValue.Container;
import dev.kbx.program.AbstractValue.Definition;
import dev.kbx.program.AbstractValue.Descriptor;
import dev.kbx.program.AbstractValue.External;
import dev.kbx.program.AbstractValue.Instance;
import dev.kbx.program.AbstractValue.KernelLauncher;
import dev.kbx.program.AbstractValue.Partial;
import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Scope.Parameter;
import dev.kbx.syntax.Node;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Models calls: binds parameters to arguments and passes results on. */
final class CallBinding {
  /** More starred arguments are not spread: their combinations multiply. */
  private static final int MAX_STARRED = 3;

  private final ValueFlow flow;
  private final LibraryModels libraries;

  CallBinding(ValueFlow flow) {
    this.flow = flow;
    libraries = new LibraryModels(flow, this);
  }

  /**
   * Calls one value.
   *
   * @param node the call or decorator in the source; null for an implicit call
   */
  void call(AbstractValue target, Arguments arguments, ValueSet result, @Nullable Node node) {
    if (arguments.starred().isEmpty() || arguments.starred().size() > MAX_STARRED) {
      callPlainly(target, arguments, result, node);
      return;
    }
    flow.forEach(
        arguments.starred().getFirst(),
        value -> {
          Arguments spread = arguments.spread(value);
          if (spread == null) callPlainly(target, arguments, result, node);
          else call(target, spread, result, node);
        });
  }

  private void callPlainly(
      AbstractValue target, Arguments arguments, ValueSet result, @Nullable Node node) {
    switch (target) {
      case External external -> libraries.call(external, arguments, result, node);
      case Definition(Scope type, _) when type.kind() == Kind.CLASS ->
          create(type, arguments, result);
      case Definition(Scope function, AbstractValue receiver) -> {
        bind(function, receiver, arguments);
        flow.copy(function.result, result);
      }
      case Instance instance -> callInstance(instance, arguments, result);
      case KernelLauncher(Scope kernel) -> {
        bind(kernel, null, arguments);
        flow.add(result, AbstractValue.UNKNOWN);
      }
      case Partial(AbstractValue function, Arguments first) ->
          call(function, first.and(arguments), result, node);
      case AttributeGetter getter -> {
        ValueSet of = arguments.get(0);
        if (of != null) get(getter, of, result, arguments);
      }
      case BoundMethod(AbstractValue receiver, String name) ->
          libraries.method(receiver, name, arguments, result, node);
      case Descriptor(_, Definition function) -> call(function, arguments, result, node);
      default -> flow.add(result, AbstractValue.UNKNOWN);
    }
  }

  /** Calls every value of a set. */
  void callEach(ValueSet target, Arguments arguments, ValueSet result) {
    flow.forEach(target, value -> call(value, arguments, result, null));
  }

  private void create(Scope type, Arguments arguments, ValueSet result) {
    Instance instance = new Instance(type);
    flow.add(result, instance);
    ValueSet made = flow.attributes().attribute(type, "__init__");
    flow.forEach(
        made,
        value -> {
          if (value instanceof Definition(Scope function, _)) bind(function, instance, arguments);
        });
    flow.forEach(
        flow.attributes().attribute(type, "__new__"),
        value -> {
          if (value instanceof Definition(Scope function, _)) {
            bind(function, new Definition(type, null), arguments);
            flow.copy(function.result, result);
          }
        });
  }

  private void callInstance(Instance instance, Arguments arguments, ValueSet result) {
    for (String name : List.of("__call__", "forward")) {
      flow.forEach(
          flow.attributes().attribute(instance.type(), name),
          value -> {
            if (value instanceof Definition(Scope function, _)) {
              call(new Definition(function, instance), arguments, result, null);
            }
          });
    }
    flow.add(result, AbstractValue.UNKNOWN);
  }

  /** Reads {@code a.b}, and calls it if the getter is a {@code methodcaller}. */
  void get(AttributeGetter getter, ValueSet from, ValueSet into, Arguments arguments) {
    ValueSet at = from;
    for (String name : getter.attributes().split("\\.", 16)) {
      ValueSet owner = at;
      ValueSet next = new ValueSet();
      flow.forEach(owner, value -> flow.attributes().get(value, name, next));
      at = next;
    }
    if (getter.calls()) callEach(at, arguments.from(1), into);
    else flow.copy(at, into);
  }

  /** Binds the parameters of a function to arguments. */
  private void bind(Scope function, @Nullable AbstractValue receiver, Arguments arguments) {
    int at = 0;
    if (receiver != null) {
      if (!function.parameters.isEmpty()) flow.add(parameter(function, 0), receiver);
      at = 1;
    }
    for (ValueSet each : arguments.positional()) positional(function, at++, each);
    arguments.named().forEach((name, set) -> named(function, name, set));
    for (ValueSet each : arguments.starred()) {
      int first = at;
      flow.forEach(each, value -> spread(function, first, value));
    }
    for (ValueSet each : arguments.mapped()) {
      flow.forEach(
          each,
          value -> {
            if (value instanceof Container container) {
              container.entries.forEach((name, set) -> named(function, String.valueOf(name), set));
            }
          });
    }
  }

  private void spread(Scope function, int first, AbstractValue value) {
    if (value instanceof Container container && !container.items.isEmpty() && !container.changed) {
      int at = first;
      for (ValueSet each : container.items) positional(function, at++, each);
      return;
    }
    ValueSet any = new ValueSet();
    flow.attributes().any(value, any);
    for (int i = first; i < function.parameters.size(); i++) {
      if (function.parameters.get(i).stars() < 2) positional(function, i, any);
    }
  }

  private void positional(Scope function, int at, ValueSet value) {
    List<Parameter> parameters = function.parameters;
    for (int i = 0; i <= at && i < parameters.size(); i++) {
      if (parameters.get(i).stars() == 1) {
        collect(parameter(function, i), value);
        return;
      }
    }
    if (at < parameters.size() && parameters.get(at).stars() == 0) {
      flow.copy(value, parameter(function, at));
    }
  }

  private void named(Scope function, String name, ValueSet value) {
    for (int i = 0; i < function.parameters.size(); i++) {
      Parameter parameter = function.parameters.get(i);
      if (parameter.stars() == 2) {
        collect(parameter(function, i), value);
      } else if (parameter.name().equals(name)) {
        flow.copy(value, parameter(function, i));
        return;
      }
    }
  }

  /** Adds a value to a starred parameter. */
  private void collect(ValueSet parameter, ValueSet value) {
    for (AbstractValue each : parameter.values) {
      if (each instanceof Container container) flow.copy(value, container.content);
    }
  }

  private static ValueSet parameter(Scope function, int index) {
    return function.variables.computeIfAbsent(
        function.parameters.get(index).name(), _ -> new ValueSet());
  }

  /** Applies a decorator; one from another module is taken to return a wrapper. */
  void decorate(AbstractValue decorator, ValueSet defined, ValueSet result, Node node) {
    boolean descriptor =
        decorator instanceof External external
            && LibraryModels.DESCRIPTORS.contains(external.path());
    if (decorator instanceof External && !descriptor) {
      flow.copy(defined, result);
    } else {
      call(decorator, Arguments.of(defined), result, node);
    }
  }

  /** The arguments of a call in the source. */
  Arguments arguments(@Nullable Node list) {
    if (list == null) return Arguments.NONE;
    if (!list.is("argument_list")) return Arguments.of(flow.valuesOf(list));
    var positional = new java.util.ArrayList<ValueSet>();
    Map<String, ValueSet> named = new java.util.LinkedHashMap<>();
    var starred = new java.util.ArrayList<ValueSet>();
    var mapped = new java.util.ArrayList<ValueSet>();
    for (Node each : list.children()) {
      Node value = each.child("value");
      Node name = each.child("name");
      switch (each.kind()) {
        case "(", ")", "," -> {}
        case "list_splat" -> starred.add(flow.valuesOf(each.children().getLast()));
        case "dictionary_splat" -> mapped.add(flow.valuesOf(each.children().getLast()));
        case "keyword_argument" -> {
          if (name != null && value != null) named.put(flow.text(name), flow.valuesOf(value));
        }
        default -> {
          if (starred.isEmpty()) positional.add(flow.valuesOf(each));
          else starred.add(ValueSet.of(new Container(List.of(flow.valuesOf(each)))));
        }
      }
    }
    return new Arguments(positional, named, starred, mapped);
  }
}

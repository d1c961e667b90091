package dev.kbx.program;

import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Scope.Parameter;
import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.Descriptor;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Getter;
import dev.kbx.program.Value.Instance;
import dev.kbx.program.Value.Launcher;
import dev.kbx.program.Value.Method;
import dev.kbx.program.Value.Own;
import dev.kbx.program.Value.Partial;
import dev.kbx.syntax.Node;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What calls do: bind parameters, and what comes back. */
final class Calls {
  /** What several stars may unpack combines. */
  private static final int MAX_STARRED = 3;

  private final ValueFlow flow;
  private final LibraryModels known;

  Calls(ValueFlow flow) {
    this.flow = flow;
    known = new LibraryModels(flow, this);
  }

  /**
   * Calls one value.
   *
   * @param node the call or decorator in the source; null for one that the language makes
   */
  void call(Value target, Arguments arguments, Cell result, @Nullable Node node) {
    if (arguments.starred().isEmpty() || arguments.starred().size() > MAX_STARRED) {
      callPlainly(target, arguments, result, node);
      return;
    }
    flow.each(
        arguments.starred().getFirst(),
        value -> {
          Arguments spread = arguments.spread(value);
          if (spread == null) callPlainly(target, arguments, result, node);
          else call(target, spread, result, node);
        });
  }

  private void callPlainly(Value target, Arguments arguments, Cell result, @Nullable Node node) {
    switch (target) {
      case External external -> known.call(external, arguments, result, node);
      case Own(Scope type, _) when type.kind() == Kind.CLASS -> create(type, arguments, result);
      case Own(Scope function, Value receiver) -> {
        bind(function, receiver, arguments);
        flow.flow(function.result, result);
      }
      case Instance instance -> callInstance(instance, arguments, result);
      case Launcher(Scope kernel) -> {
        bind(kernel, null, arguments);
        flow.add(result, Value.UNKNOWN);
      }
      case Partial(Value function, Arguments first) ->
          call(function, first.and(arguments), result, node);
      case Getter getter -> {
        Cell of = arguments.get(0);
        if (of != null) get(getter, of, result, arguments);
      }
      case Method(Value receiver, String name) ->
          known.method(receiver, name, arguments, result, node);
      case Descriptor(_, Own function) -> call(function, arguments, result, node);
      default -> flow.add(result, Value.UNKNOWN);
    }
  }

  /** Calls whatever a cell may be. */
  void callEach(Cell target, Arguments arguments, Cell result) {
    flow.each(target, value -> call(value, arguments, result, null));
  }

  private void create(Scope type, Arguments arguments, Cell result) {
    Instance instance = new Instance(type);
    flow.add(result, instance);
    Cell made = flow.members().attribute(type, "__init__");
    flow.each(
        made,
        value -> {
          if (value instanceof Own(Scope function, _)) bind(function, instance, arguments);
        });
    flow.each(
        flow.members().attribute(type, "__new__"),
        value -> {
          if (value instanceof Own(Scope function, _)) {
            bind(function, new Own(type, null), arguments);
            flow.flow(function.result, result);
          }
        });
  }

  private void callInstance(Instance instance, Arguments arguments, Cell result) {
    for (String name : List.of("__call__", "forward")) {
      flow.each(
          flow.members().attribute(instance.type(), name),
          value -> {
            if (value instanceof Own(Scope function, _)) {
              call(new Own(function, instance), arguments, result, null);
            }
          });
    }
    flow.add(result, Value.UNKNOWN);
  }

  /** Follows {@code a.b}, and calls what is there if the getter is a method caller. */
  void get(Getter getter, Cell from, Cell into, Arguments arguments) {
    Cell at = from;
    for (String name : getter.attributes().split("\\.", 16)) {
      Cell owner = at;
      Cell next = new Cell();
      flow.each(owner, value -> flow.members().get(value, name, next));
      at = next;
    }
    if (getter.calls()) callEach(at, arguments.from(1), into);
    else flow.flow(at, into);
  }

  /** Gives a function its arguments. */
  private void bind(Scope function, @Nullable Value receiver, Arguments arguments) {
    int at = 0;
    if (receiver != null) {
      if (!function.parameters.isEmpty()) flow.add(parameter(function, 0), receiver);
      at = 1;
    }
    for (Cell each : arguments.positional()) positional(function, at++, each);
    arguments.named().forEach((name, cell) -> named(function, name, cell));
    for (Cell each : arguments.starred()) {
      int first = at;
      flow.each(each, value -> spread(function, first, value));
    }
    for (Cell each : arguments.mapped()) {
      flow.each(
          each,
          value -> {
            if (value instanceof Box box) {
              box.entries.forEach((name, cell) -> named(function, String.valueOf(name), cell));
            }
          });
    }
  }

  private void spread(Scope function, int first, Value value) {
    if (value instanceof Box box && !box.items.isEmpty() && !box.changed) {
      int at = first;
      for (Cell each : box.items) positional(function, at++, each);
      return;
    }
    Cell any = new Cell();
    flow.members().any(value, any);
    for (int i = first; i < function.parameters.size(); i++) {
      if (function.parameters.get(i).stars() < 2) positional(function, i, any);
    }
  }

  private void positional(Scope function, int at, Cell value) {
    List<Parameter> parameters = function.parameters;
    for (int i = 0; i <= at && i < parameters.size(); i++) {
      if (parameters.get(i).stars() == 1) {
        collect(parameter(function, i), value);
        return;
      }
    }
    if (at < parameters.size() && parameters.get(at).stars() == 0) {
      flow.flow(value, parameter(function, at));
    }
  }

  private void named(Scope function, String name, Cell value) {
    for (int i = 0; i < function.parameters.size(); i++) {
      Parameter parameter = function.parameters.get(i);
      if (parameter.stars() == 2) {
        collect(parameter(function, i), value);
      } else if (parameter.name().equals(name)) {
        flow.flow(value, parameter(function, i));
        return;
      }
    }
  }

  /** Puts a value into what a starred parameter holds. */
  private void collect(Cell parameter, Cell value) {
    for (Value each : parameter.values) {
      if (each instanceof Box box) flow.flow(value, box.content);
    }
  }

  private static Cell parameter(Scope function, int index) {
    return function.variables.computeIfAbsent(
        function.parameters.get(index).name(), _ -> new Cell());
  }

  /** Applies a decorator to a definition; what cannot be read is taken to wrap it. */
  void decorate(Value decorator, Cell defined, Cell result, Node node) {
    boolean descriptor =
        decorator instanceof External external
            && LibraryModels.DESCRIPTORS.contains(external.path());
    if (decorator instanceof External && !descriptor) {
      flow.flow(defined, result);
    } else {
      call(decorator, Arguments.of(defined), result, node);
    }
  }

  /** Arguments as the source gives them. */
  Arguments arguments(@Nullable Node list) {
    if (list == null) return Arguments.NONE;
    if (!list.is("argument_list")) return Arguments.of(flow.cell(list));
    var positional = new java.util.ArrayList<Cell>();
    Map<String, Cell> named = new java.util.LinkedHashMap<>();
    var starred = new java.util.ArrayList<Cell>();
    var mapped = new java.util.ArrayList<Cell>();
    for (Node each : list.children()) {
      Node value = each.child("value");
      Node name = each.child("name");
      switch (each.kind()) {
        case "(", ")", "," -> {}
        case "list_splat" -> starred.add(flow.cell(each.children().getLast()));
        case "dictionary_splat" -> mapped.add(flow.cell(each.children().getLast()));
        case "keyword_argument" -> {
          if (name != null && value != null) named.put(flow.text(name), flow.cell(value));
        }
        default -> {
          if (starred.isEmpty()) positional.add(flow.cell(each));
          else starred.add(Cell.of(new Box(List.of(flow.cell(each)))));
        }
      }
    }
    return new Arguments(positional, named, starred, mapped);
  }
}

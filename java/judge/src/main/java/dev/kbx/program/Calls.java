package dev.kbx.program;

import dev.kbx.program.Resolver.Slot;
import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Scope.Parameter;
import dev.kbx.program.Value.Arguments;
import dev.kbx.program.Value.Arguments.Argument;
import dev.kbx.program.Value.BoundMethod;
import dev.kbx.program.Value.Container;
import dev.kbx.program.Value.Definition;
import dev.kbx.program.Value.Descriptor;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Instance;
import dev.kbx.program.Value.Launcher;
import dev.kbx.program.Value.Partial;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Calls values: passes arguments to functions of the file, and asks {@link Library} for others. */
final class Calls {
  /** Starred arguments that are spread; with more, their elements may be any argument. */
  private static final int MAX_STARRED = 3;

  /** Elements of a starred argument; longer ones are not spread. */
  private static final int MAX_SPREAD = 32;

  private final Resolver resolver;
  private final Attributes attributes;
  private final Library library;

  Calls(Resolver resolver, Attributes attributes, Library library) {
    this.resolver = resolver;
    this.attributes = attributes;
    this.library = library;
  }

  /** What a call of one value returns. */
  Set<Value> call(Value target, Arguments arguments) {
    Set<Value> found = new LinkedHashSet<>();
    for (Arguments each : spread(arguments)) found.addAll(callPlainly(target, each));
    return found;
  }

  /** The arguments with starred ones replaced by their elements, where these are known. */
  private List<Arguments> spread(Arguments given) {
    long stars = given.positional().stream().filter(Argument::starred).count();
    if (stars == 0 || stars > MAX_STARRED) return List.of(given);
    List<Arguments> spread = List.of(new Arguments(List.of(), given.named(), given.mapped()));
    for (Argument argument : given.positional()) {
      List<Arguments> longer = new ArrayList<>();
      for (Value value :
          argument.starred() ? resolver.read(argument.slot()) : List.of(External.UNKNOWN)) {
        Arguments more = items(argument, value);
        for (Arguments before : spread) longer.add(before.and(more));
      }
      if (longer.size() > Resolver.MAX_PARTS) return List.of(given);
      spread = longer;
    }
    return spread;
  }

  private Arguments items(Argument argument, Value value) {
    if (argument.starred() && value instanceof Container container) {
      resolver.read(container.content);
      int size = container.items.size();
      boolean known = !container.changed && !container.open && size > 0 && size <= MAX_SPREAD;
      if (known) return Arguments.of(container.items.toArray(Slot[]::new));
    }
    return new Arguments(List.of(argument), Map.of(), List.of());
  }

  private Set<Value> callPlainly(Value target, Arguments arguments) {
    return switch (target) {
      case External external -> library.call(external, arguments);
      case Definition(Scope type, _) when type.kind() == Kind.CLASS -> create(type, arguments);
      case Definition(Scope function, Value receiver) -> {
        pass(function, receiver, arguments);
        yield new LinkedHashSet<>(resolver.read(function.result));
      }
      case Instance instance -> {
        Set<Value> found = new LinkedHashSet<>();
        for (String method : List.of("__call__", "forward")) {
          for (Value each : attributes.lookUp(instance.type(), method)) {
            if (each instanceof Definition(Scope function, _)) {
              found.addAll(call(new Definition(function, instance), arguments));
            }
          }
        }
        found.add(External.UNKNOWN);
        yield found;
      }
      case Launcher(Scope kernel) -> {
        pass(kernel, null, arguments);
        yield Set.of(External.UNKNOWN);
      }
      case Partial(Value function, Arguments first) -> call(function, first.and(arguments));
      case BoundMethod(Value receiver, String name) -> library.method(receiver, name, arguments);
      case Descriptor(_, Definition function) -> call(function, arguments);
      default -> Set.of(External.UNKNOWN);
    };
  }

  private Set<Value> create(Scope type, Arguments arguments) {
    Instance made = new Instance(type);
    Set<Value> found = new LinkedHashSet<>(Set.of(made));
    for (Value each : attributes.lookUp(type, "__init__")) {
      if (each instanceof Definition(Scope function, _)) pass(function, made, arguments);
    }
    if (!attributes.lookUp(type, "__new__").isEmpty()) found.add(External.UNKNOWN);
    return found;
  }

  /** Binds the parameters of a function to arguments. */
  private void pass(Scope function, @Nullable Value receiver, Arguments arguments) {
    int at = 0;
    if (receiver != null) {
      if (!function.parameters.isEmpty()) {
        resolver.add(
            Resolver.parameter(function, function.parameters.getFirst()), Set.of(receiver));
      }
      at = 1;
    }
    boolean fixed = true;
    for (Argument each : arguments.positional()) {
      List<Value> values = resolver.read(each.slot());
      fixed &= !each.starred();
      if (fixed) {
        positional(function, at++, values);
        continue;
      }
      Collection<Value> any = each.starred() ? resolver.elements(values) : values;
      for (int i = at; i < function.parameters.size(); i++) positional(function, i, any);
    }
    arguments.named().forEach((name, slot) -> named(function, name, resolver.read(slot)));
    for (Slot each : arguments.mapped()) {
      for (Value value : resolver.read(each)) {
        if (!(value instanceof Container container)) continue;
        container.entries.forEach(
            (name, slot) -> named(function, String.valueOf(name), resolver.read(slot)));
      }
    }
  }

  private void positional(Scope function, int at, Collection<Value> values) {
    List<Parameter> parameters = function.parameters;
    for (int i = 0; i <= at && i < parameters.size(); i++) {
      if (parameters.get(i).stars() == 1) {
        resolver.add(resolver.container(parameters.get(i).node()).content, values);
        return;
      }
    }
    if (at < parameters.size() && parameters.get(at).stars() == 0) {
      resolver.add(Resolver.parameter(function, parameters.get(at)), values);
    }
  }

  private void named(Scope function, String name, Collection<Value> values) {
    for (Parameter parameter : function.parameters) {
      if (parameter.stars() == 2) {
        resolver.add(resolver.container(parameter.node()).content, values);
      } else if (parameter.name().equals(name)) {
        resolver.add(Resolver.parameter(function, parameter), values);
        return;
      }
    }
  }
}

package dev.kbx.program;

import dev.kbx.program.Resolver.Slot;
import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One of the things that an expression may evaluate to. */
sealed interface Value {
  /** A value of another module or an attribute of an unknown value, by its path. */
  record External(String path) implements Value {
    /** Any value: nothing is known of it. */
    static final External UNKNOWN = new External("?");

    /** Characters; longer paths become unknown. */
    private static final int MAX_LENGTH = 120;

    /** Includes an empty path, as from {@code import_module("")}. */
    boolean unknown() {
      return path.isEmpty() || path.charAt(0) == '?';
    }

    External attribute(String name) {
      return unknown() ? new External("?." + name) : step("." + name);
    }

    External called() {
      return unknown() ? UNKNOWN : step("()");
    }

    External element() {
      return unknown() ? UNKNOWN : step("[]");
    }

    private External step(String step) {
      String longer = path + step;
      return longer.length() > MAX_LENGTH ? UNKNOWN : new External(longer);
    }
  }

  /**
   * A function or class of this file.
   *
   * @param receiver of a bound method; null for a plain function or class
   */
  record Definition(Scope scope, @Nullable Value receiver) implements Value {}

  /** An instance of a class of this file. */
  record Instance(Scope type) implements Value {}

  /** The result of {@code property}, {@code staticmethod} or {@code classmethod} on a function. */
  record Descriptor(String kind, Definition function) implements Value {}

  /** A function of this file with a launch grid: {@code kernel[grid]}. */
  record Launcher(Scope kernel) implements Value {}

  /** The namespace of a module or function of this file: {@code globals()}, {@code locals()}. */
  record Namespace(Scope scope) implements Value {}

  /** {@code __dict__} of any other object. */
  record ObjectDict(Value of) implements Value {}

  /** A String, Long, Double or Boolean; bytes are a String, one character a byte. */
  record Constant(Object value) implements Value {}

  /** A method of a constant, a container or a dictionary. */
  record BoundMethod(Value receiver, String name) implements Value {}

  /** {@code functools.partial}; the function is not a {@code Partial} itself. */
  record Partial(Value function, Arguments first) implements Value {}

  /** An object of another module's class, with the call that constructed it. */
  record Constructed(Node call, External of, Arguments given) implements Value {}

  /** A list, tuple, set or dictionary. */
  final class Container implements Value {
    /** Its elements in order; empty where their positions are unknown. */
    List<Slot> items = List.of();

    /** Values of a dictionary by constant key. */
    final Map<Object, Slot> entries = new LinkedHashMap<>();

    /** All elements or values. */
    final Slot content = new Slot();

    /** All keys. */
    final Slot keys = new Slot();

    /** Elements were added, moved or removed: items and entries are incomplete. */
    boolean changed;

    /** The number of elements is unknown, as in a comprehension. */
    boolean open;
  }

  /** The path of this value as {@link Program} defines it; null if it has none. */
  default @Nullable String path() {
    return switch (this) {
      case External external -> external.path;
      case Definition(Scope scope, _) -> scope.path();
      case Instance(Scope type) -> type.path() + "()";
      case Launcher(Scope kernel) -> kernel.path() + "[]";
      case Descriptor(_, Definition function) -> function.path();
      case Partial(Value function, _) -> function.path();
      case ObjectDict(External of) -> of.path + ".__dict__";
      case Constructed(_, External of, _) -> of.path;
      default -> null;
    };
  }

  /** The function or class of the file that this value is; for an instance, its class. */
  private @Nullable Scope owned() {
    return switch (this) {
      case Definition(Scope scope, _) -> scope;
      case Instance(Scope type) -> type;
      case Launcher(Scope kernel) -> kernel;
      case Descriptor(_, Definition function) -> function.scope;
      case Partial(Value function, _) -> function.owned();
      default -> null;
    };
  }

  /** The paths of those that have one. */
  static Set<String> paths(Collection<Value> values) {
    Set<String> found = new LinkedHashSet<>();
    for (Value value : values) {
      String path = value.path();
      if (path != null) found.add(path);
    }
    return found;
  }

  /** The functions and classes of the file among values; for an instance, its class. */
  static Set<Scope> owned(Collection<Value> values) {
    Set<Scope> found = new LinkedHashSet<>();
    for (Value value : values) {
      Scope scope = value.owned();
      if (scope != null) found.add(scope);
    }
    return found;
  }

  /**
   * The arguments of a call.
   *
   * @param mapped what {@code **} unpacks
   */
  record Arguments(List<Argument> positional, Map<String, Slot> named, List<Slot> mapped) {
    /**
     * A positional argument.
     *
     * @param starred whether it stands for its elements
     */
    record Argument(Slot slot, boolean starred) {}

    static final Arguments NONE = of();

    static Arguments of(Slot... given) {
      List<Argument> positional = new ArrayList<>();
      for (Slot each : given) positional.add(new Argument(each, false));
      return new Arguments(positional, Map.of(), List.of());
    }

    /** The argument of a parameter; null if it is not given, or maybe by a starred one. */
    @Nullable Slot get(int position, String name) {
      if (position >= positional.size()) return named.get(name);
      for (Argument each : positional.subList(0, position + 1)) if (each.starred) return null;
      return positional.get(position).slot;
    }

    /** The same for a parameter that is never named. */
    @Nullable Slot get(int position) {
      return get(position, "");
    }

    int count() {
      return positional.size() + named.size() + mapped.size();
    }

    /** These arguments followed by others. */
    Arguments and(Arguments more) {
      Map<String, Slot> names = new LinkedHashMap<>(named);
      names.putAll(more.named);
      return new Arguments(join(positional, more.positional), names, join(mapped, more.mapped));
    }

    /** Without the first positional arguments. */
    Arguments from(int position) {
      int first = Math.min(position, positional.size());
      return new Arguments(positional.subList(first, positional.size()), named, mapped);
    }

    private static <T> List<T> join(List<T> first, List<T> second) {
      List<T> both = new ArrayList<>(first);
      both.addAll(second);
      return both;
    }
  }
}

package dev.kbx.program;

import dev.kbx.program.Access.Kind;
import dev.kbx.program.Resolver.Slot;
import dev.kbx.program.Value.Arguments;
import dev.kbx.program.Value.Constant;
import dev.kbx.program.Value.Constructed;
import dev.kbx.program.Value.Container;
import dev.kbx.program.Value.Definition;
import dev.kbx.program.Value.Descriptor;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Instance;
import dev.kbx.program.Value.Namespace;
import dev.kbx.program.Value.ObjectDict;
import dev.kbx.program.Value.Partial;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The builtins and library functions that affect which function is called. */
final class Library {
  /** Names that every module has without binding them. */
  private static final Set<String> BUILTINS =
      names(
          "__import__ __build_class__ __name__ __file__ __doc__ __loader__ __package__ __spec__"
              + " abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable"
              + " chr classmethod compile complex copyright credits delattr dict dir divmod"
              + " enumerate eval exec exit filter float format frozenset getattr globals"
              + " hasattr hash help hex id input int isinstance issubclass iter len license"
              + " list locals map max memoryview min next object oct open ord pow print"
              + " property quit range repr reversed round set setattr slice sorted"
              + " staticmethod str sum super tuple type vars zip Ellipsis NotImplemented"
              + " ArithmeticError AssertionError AttributeError BaseException"
              + " BaseExceptionGroup BufferError EOFError Exception ExceptionGroup"
              + " FileExistsError FileNotFoundError FloatingPointError GeneratorExit IOError"
              + " ImportError IndexError InterruptedError KeyError KeyboardInterrupt"
              + " LookupError MemoryError ModuleNotFoundError NameError NotImplementedError"
              + " OSError OverflowError PermissionError RecursionError ReferenceError"
              + " RuntimeError RuntimeWarning StopIteration SyntaxError SystemError SystemExit"
              + " TimeoutError TypeError UnicodeDecodeError UnicodeError UserWarning ValueError"
              + " Warning ZeroDivisionError DeprecationWarning");

  /** Decorators that make descriptors of methods. */
  private static final Set<String> DESCRIPTORS =
      names(
          "builtins.property builtins.staticmethod builtins.classmethod functools.cached_property");

  /** Return their first argument, a wrapper of it or a container with its elements. */
  private static final Set<String> TRANSPARENT =
      names(
          "triton.jit triton.jit() triton.runtime.jit.jit triton.runtime.jit.jit()"
              + " triton.JITFunction triton.runtime.JITFunction triton.runtime.jit.JITFunction"
              + " triton.runtime.Autotuner triton.runtime.autotuner.Autotuner"
              + " triton.autotune() triton.heuristics() functools.lru_cache functools.lru_cache()"
              + " functools.cache functools.wraps() torch.compile torch.compile() torch.no_grad()"
              + " torch.inference_mode() torch.jit.script torch.library.wrap_triton builtins.iter"
              + " builtins.list builtins.tuple builtins.dict copy.copy");

  /** Return the elements of their first argument in another order. */
  private static final Set<String> REORDERING =
      names("builtins.frozenset builtins.reversed builtins.set builtins.sorted");

  /** Return something that their arguments hold or return. */
  private static final Set<String> SELECTING =
      names(
          "builtins.map builtins.max builtins.min functools.reduce itertools.chain"
              + " operator.attrgetter operator.itemgetter operator.methodcaller");

  /** The name of the first parameter, for functions often called with keywords. */
  private static final Map<String, String> FIRST =
      Map.of(
          "builtins.__import__", "name",
          "importlib.import_module", "name",
          "torch.compile", "model",
          "triton.jit", "fn",
          "unittest.mock.patch", "target",
          "unittest.mock.patch.object", "target");

  /** Methods of a dictionary that are followed. */
  private static final Set<String> OF_DICTIONARY =
      names("__delitem__ __getitem__ __ior__ __setitem__ clear get pop popitem setdefault update");

  private static final External SYS_MODULES = new External("sys.modules");

  /** Arguments of nested {@code partial} calls; more make the function unknown. */
  private static final int MAX_GIVEN = 64;

  private final Resolver resolver;

  Library(Resolver resolver) {
    this.resolver = resolver;
  }

  private static Set<String> names(String text) {
    return Set.of(text.split(" "));
  }

  static boolean isBuiltin(String name) {
    return BUILTINS.contains(name);
  }

  static boolean isDescriptor(String path) {
    return DESCRIPTORS.contains(path);
  }

  static boolean isDictionaryMethod(String name) {
    return OF_DICTIONARY.contains(name);
  }

  /** The constant name in a value, or {@link Resolver#ANY}. */
  static String name(Value value) {
    return value instanceof Constant(String text) ? text : Resolver.ANY;
  }

  /** What a call of another module's function returns. */
  Set<Value> call(External target, Arguments arguments) {
    String path = target.path();
    Slot slot = arguments.get(0, FIRST.getOrDefault(path, ""));
    if (target.unknown() || slot == null) return plain(target, arguments);
    List<Value> first = resolver.read(slot);
    List<Value> second = values(arguments, 1, "");
    Set<Value> found = new LinkedHashSet<>();
    if (TRANSPARENT.contains(path)) return new LinkedHashSet<>(first);
    if (SELECTING.contains(path)) return Set.of(External.UNKNOWN);
    if (REORDERING.contains(path)) return Set.of(collection(resolver.iterated(first)));
    if (DESCRIPTORS.contains(path)) {
      String kind = path.endsWith("property") ? "property" : path.substring("builtins.".length());
      for (Value each : first) {
        found.add(each instanceof Definition of ? new Descriptor(kind, of) : each);
      }
      return found;
    }
    switch (path) {
      case "builtins.getattr" -> found.addAll(get(first, arguments));
      case "builtins.setattr" -> set(first, second, values(arguments, 2, ""));
      case "builtins.delattr" -> delete(first, second);
      case "builtins.vars" -> {
        for (Value each : first) {
          boolean known = each instanceof Namespace || each instanceof ObjectDict;
          found.add(known ? each : new ObjectDict(each));
        }
      }
      case "builtins.eval", "builtins.exec" -> {
        first.forEach(this::execute);
        found.add(External.UNKNOWN);
      }
      case "builtins.__import__", "importlib.import_module" -> {
        for (Value each : first) found.add(imported(target, each, arguments));
      }
      case "functools.partial" -> {
        for (Value each : first) found.add(partial(each, arguments.from(1)));
      }
      case "builtins.filter" -> found.add(collection(resolver.iterated(second)));
      case "builtins.next" -> found.addAll(resolver.iterated(first));
      case "builtins.enumerate" ->
          found.add(resolver.tuples(List.of(Set.of(External.UNKNOWN), resolver.iterated(first))));
      case "builtins.zip" -> {
        List<Set<Value>> parts = new ArrayList<>();
        for (Arguments.Argument each : arguments.positional()) {
          parts.add(resolver.iterated(resolver.read(each.slot())));
        }
        found.add(resolver.tuples(parts));
      }
      case "unittest.mock.patch" -> {
        for (Value each : first) resolver.effect(Kind.WRITE, new External(name(each)));
      }
      case "unittest.mock.patch.object" ->
          set(first, values(arguments, 1, "attribute"), values(arguments, 2, "new"));
      case "sys.modules.get" -> found.addAll(looked(resolver.element(SYS_MODULES, slot)));
      default -> found.addAll(special(target, first, arguments));
    }
    return found;
  }

  private Container collection(Collection<Value> elements) {
    return resolver.collection(resolver.at(), elements);
  }

  private List<Value> values(Arguments arguments, int position, String name) {
    Slot slot = arguments.get(position, name);
    return slot == null ? List.of() : resolver.read(slot);
  }

  /**
   * Methods such as {@code __setattr__}, bound ({@code x.__setattr__("a", b)}) or called on the
   * class ({@code Module.__setattr__(x, "a", b)}, {@code dict.update(x, a=b)}).
   */
  private Set<Value> special(External target, List<Value> first, Arguments arguments) {
    String path = target.path();
    int dot = Math.max(path.lastIndexOf('.'), 0);
    List<Value> owner = List.of(new External(path.substring(0, dot)));
    List<Value> second = values(arguments, 1, "");
    int given = arguments.positional().size();
    switch (path.substring(dot + 1)) {
      case "__getattribute__", "__getattr__" -> {
        return given > 1 ? get(first, arguments) : looked(attributes(owner, first));
      }
      case "__setattr__" -> {
        if (given > 2) set(first, second, values(arguments, 2, ""));
        else if (given == 2) set(owner, first, second);
      }
      case "__delattr__" -> {
        if (given > 1) delete(first, second);
        else delete(owner, first);
      }
      default -> {
        if (!path.startsWith("builtins.dict.")) return plain(target, arguments);
        Set<Value> found = new LinkedHashSet<>();
        for (Value each : first) {
          found.addAll(method(each, path.substring(dot + 1), arguments.from(1)));
        }
        return found;
      }
    }
    return Set.of();
  }

  /** A call that depends on no argument, or is not followed. */
  private Set<Value> plain(External target, Arguments arguments) {
    return switch (target.path()) {
      case "builtins.globals" -> Set.of(new Namespace(resolver.module()));
      case "builtins.locals", "builtins.vars" -> Set.of(new Namespace(resolver.scope()));
      case "builtins.super" -> parents();
      case "builtins.dict" -> {
        Container container = resolver.container(resolver.at());
        arguments
            .named()
            .forEach((name, slot) -> {
              resolver.put(container, name, resolver.read(slot));
              resolver.add(container.content, resolver.read(slot));
            });
        yield Set.of(container);
      }
      case "builtins.list", "builtins.set" -> Set.of(resolver.container(resolver.at()));
      case "triton.Config" -> Set.of(new Constructed(resolver.at(), target.called(), arguments));
      default -> Set.of(target.called());
    };
  }

  private Set<Value> parents() {
    Scope at = resolver.scope();
    while (at.kind() != Scope.Kind.CLASS && at.parent().isPresent()) at = at.parent().get();
    if (at.kind() != Scope.Kind.CLASS) return Set.of(External.UNKNOWN);
    Set<Value> found = new LinkedHashSet<>();
    for (Value base : resolver.read(at.result)) {
      if (base instanceof Definition(Scope type, _)) found.add(new Instance(type));
      else if (base instanceof External external) found.add(external.called());
    }
    return found;
  }

  // Attributes by name

  private Set<Value> attributes(Collection<Value> owners, Collection<Value> names) {
    Set<Value> found = new LinkedHashSet<>();
    for (Value owner : owners) {
      for (Value name : names) found.addAll(resolver.attributes().attribute(owner, name(name)));
    }
    return found;
  }

  private Set<Value> get(List<Value> owners, Arguments arguments) {
    Set<Value> found = looked(attributes(owners, values(arguments, 1, "name")));
    found.addAll(values(arguments, 2, ""));
    return found;
  }

  /** Records the read of values that were looked up by name. */
  private Set<Value> looked(Set<Value> found) {
    for (Value each : found) resolver.effect(Kind.READ, each);
    return found;
  }

  private void set(Collection<Value> owners, Collection<Value> names, Collection<Value> values) {
    for (Value owner : owners) {
      for (Value name : names) {
        resolver.attributes().set(owner, name(name), values);
        touch(owner, name(name), Kind.WRITE);
      }
    }
  }

  private void delete(Collection<Value> owners, Collection<Value> names) {
    for (Value owner : owners) {
      for (Value name : names) touch(owner, name(name), Kind.DELETE);
    }
  }

  /** Records that an attribute of another module's value is bound or deleted. */
  private void touch(Value owner, String name, Kind kind) {
    Value of = owner instanceof ObjectDict(Value object) ? object : owner;
    if (of instanceof External external) resolver.effect(kind, external.attribute(name));
  }

  // Calls by name

  private Value imported(External importer, Value name, Arguments arguments) {
    if (name.equals(new External("builtins.__name__"))) return new Namespace(resolver.module());
    if (!(name instanceof Constant(String text))) return importer.called();
    boolean top = importer.path().contains("__import__") && arguments.get(3, "fromlist") == null;
    External found = new External(top ? text.split("\\.", 2)[0] : text);
    resolver.effect(Kind.READ, found);
    return found;
  }

  /** Merges nested partials: deep nesting would overflow the stack. */
  private static Value partial(Value function, Arguments more) {
    if (!(function instanceof Partial(Value inner, Arguments first))) {
      return new Partial(function, more);
    }
    Arguments all = first.and(more);
    return all.count() > MAX_GIVEN ? External.UNKNOWN : new Partial(inner, all);
  }

  /** Executed text is not parsed: unless it is arithmetic or a version, it may do anything. */
  private void execute(Value text) {
    boolean harmless =
        switch (text) {
          case Constant(Object known) -> ExecutedText.isArithmetic(known);
          case External(String path) -> ExecutedText.isVersion(path);
          default -> false;
        };
    if (!harmless) resolver.unreadable();
  }

  // Methods

  /** What a method of a container, a dictionary or a constant returns. */
  Set<Value> method(Value receiver, String name, Arguments arguments) {
    return switch (receiver) {
      case Container container -> ofContainer(container, name, arguments);
      case Constant(String text) ->
          resolver.combine(
              arguments.positional().stream().map(Arguments.Argument::slot).toList(),
              values -> ConstantEvaluator.method(text, name, values));
      case ObjectDict _, Namespace _ -> ofDictionary(receiver, name, arguments);
      default -> {
        if (name.equals("__setattr__")) {
          set(List.of(receiver), values(arguments, 0, ""), values(arguments, 1, ""));
        }
        yield Set.of(External.UNKNOWN);
      }
    };
  }

  private Set<Value> ofContainer(Container container, String name, Arguments arguments) {
    Slot key = arguments.get(0);
    List<Value> first = values(arguments, 0, "");
    List<Value> second = values(arguments, 1, "");
    List<Value> all = resolver.read(container.content);
    Set<Value> found = new LinkedHashSet<>();
    switch (name) {
      case "append", "add", "insert" -> {
        resolver.change(container, first);
        resolver.change(container, second);
      }
      case "extend", "update", "__iadd__", "__ior__" -> {
        resolver.change(container, resolver.elements(first));
        arguments.named().values().forEach(each -> resolver.change(container, resolver.read(each)));
      }
      case "__setitem__" -> {
        resolver.change(container, second);
        resolver.add(container.keys, first);
      }
      case "get", "pop", "setdefault", "__getitem__" -> {
        if (name.equals("pop")) resolver.change(container, Set.of());
        if (name.equals("setdefault")) resolver.change(container, second);
        found.addAll(key == null ? all : resolver.element(container, key));
        found.addAll(second);
      }
      case "copy" -> found.add(container);
      case "values" -> found.add(collection(all));
      case "keys" -> found.add(collection(resolver.read(container.keys)));
      case "items" -> found.add(resolver.tuples(List.of(resolver.read(container.keys), all)));
      case "__contains__", "__len__", "count", "index" -> {}
      // Sorts, removes, or is unknown.
      default -> resolver.change(container, Set.of());
    }
    if (found.isEmpty()) found.add(External.UNKNOWN);
    return found;
  }

  private Set<Value> ofDictionary(Value owner, String name, Arguments arguments) {
    Slot key = arguments.get(0);
    List<Value> owners = List.of(owner);
    List<Value> first = values(arguments, 0, "");
    List<Value> second = values(arguments, 1, "");
    Set<Value> found = new LinkedHashSet<>();
    switch (name) {
      case "get", "__getitem__", "pop", "setdefault" -> {
        if (key != null) found.addAll(looked(resolver.element(owner, key)));
        found.addAll(second);
        if (name.equals("pop")) delete(owners, first);
        if (name.equals("setdefault")) set(owners, first, second);
      }
      case "__setitem__" -> set(owners, first, second);
      case "__delitem__" -> delete(owners, first);
      case "update", "__ior__" -> {
        arguments
            .named()
            .forEach((each, slot) -> set(owners, List.of(new Constant(each)), resolver.read(slot)));
        for (Slot each : arguments.mapped())
          for (Value more : resolver.read(each)) update(owner, more);
        for (Value each : first) update(owner, each);
      }
      case "clear", "popitem" -> touch(owner, Resolver.ANY, Kind.DELETE);
      default -> found.add(External.UNKNOWN);
    }
    return found;
  }

  /** {@code vars(torch).update(more)}; any other owner is not a namespace and stays as it is. */
  void update(Value owner, Value more) {
    if (!(owner instanceof ObjectDict || owner instanceof Namespace)) return;
    if (more instanceof Container container) {
      boolean whole = !resolver.isChanged(container) && !container.entries.isEmpty();
      container.entries.forEach(
          (key, slot) -> set(List.of(owner), List.of(new Constant(key)), resolver.read(slot)));
      if (whole) return;
    }
    set(List.of(owner), List.of(External.UNKNOWN), List.of(External.UNKNOWN));
  }
}

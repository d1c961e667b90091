package dev.kbx.program;

import dev.kbx.program.AbstractValue.AttributeGetter;
import dev.kbx.program.AbstractValue.Constant;
import dev.kbx.program.AbstractValue.Constructed;
import dev.kbx.program.AbstractValue.Container;
import dev.kbx.program.AbstractValue.Definition;
import dev.kbx.program.AbstractValue.Descriptor;
import dev.kbx.program.AbstractValue.External;
import dev.kbx.program.AbstractValue.Instance;
import dev.kbx.program.AbstractValue.ObjectDict;
import dev.kbx.program.AbstractValue.Partial;
import dev.kbx.program.AbstractValue.ScopeDict;
import dev.kbx.program.Access.Kind;
import dev.kbx.syntax.Node;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Models of library functions and builtins that affect which function is called. */
final class LibraryModels {
  /** Decorators that make descriptors of methods. */
  static final Set<String> DESCRIPTORS =
      Set.of(
          "builtins.property",
          "builtins.staticmethod",
          "builtins.classmethod",
          "functools.cached_property");

  /** Return their first argument, a wrapper of it or a container with its elements. */
  private static final Set<String> TRANSPARENT =
      Set.of(
          "triton.jit",
          "triton.jit()",
          "triton.runtime.jit.jit",
          "triton.runtime.jit.jit()",
          "triton.JITFunction",
          "triton.runtime.JITFunction",
          "triton.runtime.jit.JITFunction",
          "triton.runtime.Autotuner",
          "triton.runtime.autotuner.Autotuner",
          "triton.autotune()",
          "triton.heuristics()",
          "functools.lru_cache",
          "functools.lru_cache()",
          "functools.cache",
          "functools.wraps()",
          "torch.compile",
          "torch.compile()",
          "torch.no_grad()",
          "torch.inference_mode()",
          "torch.jit.script",
          "torch.library.wrap_triton",
          "builtins.iter",
          "builtins.list",
          "builtins.tuple",
          "builtins.set",
          "builtins.dict",
          "builtins.frozenset",
          "builtins.sorted");

  /** The name of the first parameter, for functions often called with keywords. */
  private static final Map<String, String> FIRST =
      Map.of(
          "builtins.__import__", "name",
          "importlib.import_module", "name",
          "torch.compile", "model",
          "triton.jit", "fn",
          "unittest.mock.patch", "target",
          "unittest.mock.patch.object", "target");

  private static final External SYS_MODULES = new External("sys.modules");

  /** Arguments of nested {@code partial} calls; more make the function unknown. */
  private static final int MAX_GIVEN = 64;

  private final ValueFlow flow;
  private final CallBinding calls;

  LibraryModels(ValueFlow flow, CallBinding calls) {
    this.flow = flow;
    this.calls = calls;
  }

  /** Calls a function of another module. */
  void call(External target, Arguments arguments, ValueSet result, @Nullable Node node) {
    String path = target.path();
    ValueSet first = arguments.get(0, FIRST.getOrDefault(path, ""));
    if (target.unknown() || first == null) {
      plain(target, arguments, result, node);
      return;
    }
    if (TRANSPARENT.contains(path)) {
      flow.copy(first, result);
      return;
    }
    if (DESCRIPTORS.contains(path)) {
      String kind = path.endsWith("property") ? "property" : path.substring("builtins.".length());
      flow.forEach(
          first,
          value ->
              flow.add(
                  result,
                  value instanceof Definition definition
                      ? new Descriptor(kind, definition)
                      : value));
      return;
    }
    ValueSet second = arguments.get(1);
    switch (path) {
      case "builtins.getattr" -> read(arguments, result, node);
      case "builtins.setattr" -> write(first, second, arguments.get(2), node);
      case "builtins.delattr" -> delete(first, second, node);
      case "builtins.vars" -> flow.forEach(first, value -> flow.add(result, dictionary(value)));
      case "builtins.eval", "builtins.exec" -> {
        flow.forEach(first, this::execute);
        flow.add(result, AbstractValue.UNKNOWN);
      }
      case "builtins.__import__", "importlib.import_module" ->
          flow.forEach(first, value -> load(target, value, arguments, result, node));
      case "functools.partial" ->
          flow.forEach(first, value -> flow.add(result, partial(value, arguments.from(1))));
      case "functools.reduce" -> {
        ValueSet items = flow.attributes().elements(second == null ? new ValueSet() : second);
        calls.callEach(first, Arguments.of(items, items), result);
      }
      case "builtins.map" -> {
        if (second != null) map(first, second, result);
      }
      case "builtins.filter" -> {
        if (second != null) flow.copy(second, result);
      }
      case "builtins.next" -> flow.copy(flow.attributes().elements(first), result);
      case "builtins.enumerate" ->
          pairs(
              List.of(ValueSet.of(AbstractValue.UNKNOWN), flow.attributes().elements(first)),
              result);
      case "builtins.zip" ->
          pairs(arguments.positional().stream().map(flow.attributes()::elements).toList(), result);
      case "operator.attrgetter", "operator.methodcaller" ->
          getter(path.endsWith("methodcaller"), first, result);
      case "unittest.mock.patch" ->
          flow.forEach(
              first,
              value -> {
                if (value instanceof Constant(String text)) {
                  flow.effect(Kind.WRITE, new External(text), node);
                }
              });
      case "unittest.mock.patch.object" ->
          write(first, arguments.get(1, "attribute"), arguments.get(2, "new"), node);
      case "sys.modules.get" -> {
        ValueSet module = new ValueSet();
        flow.attributes().element(SYS_MODULES, first, module);
        flow.forEach(module, value -> found(value, result, node));
      }
      default -> special(target, arguments, first, result, node);
    }
  }

  /**
   * Attribute methods such as {@code __setattr__}, bound ({@code x.__setattr__("a", b)}) or called
   * on the class ({@code Module.__setattr__(x, "a", b)}).
   */
  private void special(
      External target, Arguments arguments, ValueSet first, ValueSet result, @Nullable Node node) {
    String path = target.path();
    ValueSet second = arguments.get(1);
    ValueSet third = arguments.get(2);
    if (path.endsWith(".__getattribute__") || path.endsWith(".__getattr__")) {
      if (second != null) read(arguments, result, node);
      else ownerOf(target, first, Kind.READ, result, node);
    } else if (path.endsWith(".__setattr__") && second != null) {
      if (third != null) write(first, second, third, node);
      else ownerOf(target, first, Kind.WRITE, result, node);
    } else if (path.endsWith(".__delattr__")) {
      if (second != null) delete(first, second, node);
      else ownerOf(target, first, Kind.DELETE, result, node);
    } else {
      plain(target, arguments, result, node);
    }
  }

  /** Merges nested partials: deep nesting would overflow the stack. */
  private static AbstractValue partial(AbstractValue function, Arguments more) {
    if (!(function instanceof Partial(AbstractValue inner, Arguments first))) {
      return new Partial(function, more);
    }
    Arguments all = first.and(more);
    return all.count() > MAX_GIVEN ? AbstractValue.UNKNOWN : new Partial(inner, all);
  }

  private void map(ValueSet function, ValueSet items, ValueSet result) {
    Container container = new Container(List.of());
    container.open = true;
    calls.callEach(function, Arguments.of(flow.attributes().elements(items)), container.content);
    flow.add(result, container);
  }

  /** A call that depends on no argument, or is not modelled. */
  private void plain(External target, Arguments arguments, ValueSet result, @Nullable Node node) {
    switch (target.path()) {
      case "builtins.globals" -> flow.add(result, new ScopeDict(flow.module()));
      case "builtins.locals", "builtins.vars" ->
          flow.add(result, new ScopeDict(node == null ? flow.module() : flow.scopeOf(node)));
      case "builtins.super" -> {
        if (node != null) parents(flow.scopeOf(node), result);
      }
      case "builtins.dict" -> {
        Container container = new Container(List.of());
        arguments
            .named()
            .forEach((name, set) -> {
              container.entries.put(name, set);
              flow.copy(set, container.content);
            });
        flow.add(result, container);
      }
      case "builtins.list", "builtins.set" -> flow.add(result, new Container(List.of()));
      case "triton.Config" ->
          flow.add(result, node == null ? target.called() : new Constructed(node, target.called()));
      default -> flow.add(result, target.called());
    }
  }

  private void parents(Scope from, ValueSet result) {
    Scope at = from;
    while (at != null && at.kind() != Scope.Kind.CLASS) at = at.parent().orElse(null);
    if (at == null) {
      flow.add(result, AbstractValue.UNKNOWN);
      return;
    }
    flow.forEach(
        at.result,
        base -> {
          if (base instanceof Definition(Scope type, _)) flow.add(result, new Instance(type));
          else if (base instanceof External external) flow.add(result, external.called());
        });
  }

  private static AbstractValue dictionary(AbstractValue value) {
    return switch (value) {
      case ScopeDict _, ObjectDict _ -> value;
      default -> new ObjectDict(value);
    };
  }

  /** The constant name in a value, or {@link Attributes#ANY}. */
  private static String name(AbstractValue value) {
    return value instanceof Constant(String text) ? text : Attributes.ANY;
  }

  private void read(Arguments arguments, ValueSet result, @Nullable Node node) {
    ValueSet owner = arguments.get(0);
    ValueSet name = arguments.get(1, "name");
    if (owner == null || name == null) return;
    ValueSet read = new ValueSet();
    flow.forEach(
        owner, value -> flow.forEach(name, each -> flow.attributes().get(value, name(each), read)));
    flow.forEach(read, value -> found(value, result, node));
    ValueSet otherwise = arguments.get(2);
    if (otherwise != null) flow.copy(otherwise, result);
  }

  /** Records the read of a value that was looked up by name. */
  private void found(AbstractValue value, ValueSet result, @Nullable Node node) {
    flow.add(result, value);
    flow.effect(Kind.READ, value, node);
  }

  private void write(
      ValueSet owner, @Nullable ValueSet name, @Nullable ValueSet value, @Nullable Node node) {
    if (name == null) return;
    flow.forEach(
        owner,
        each ->
            flow.forEach(
                name,
                text -> {
                  if (value != null) flow.attributes().set(each, name(text), value);
                  touch(each, name(text), Kind.WRITE, node);
                }));
  }

  private void delete(ValueSet owner, @Nullable ValueSet name, @Nullable Node node) {
    if (name == null) return;
    flow.forEach(
        owner, each -> flow.forEach(name, text -> touch(each, name(text), Kind.DELETE, node)));
  }

  /** Records that an attribute of another module's value is bound or deleted. */
  private void touch(AbstractValue owner, String name, Kind kind, @Nullable Node node) {
    if (owner instanceof External external) flow.effect(kind, external.attribute(name), node);
    if (owner instanceof ObjectDict(External of)) flow.effect(kind, of.attribute(name), node);
  }

  private void ownerOf(
      External method, ValueSet name, Kind kind, ValueSet result, @Nullable Node node) {
    String path = method.path();
    External owner = new External(path.substring(0, path.lastIndexOf('.')));
    flow.forEach(
        name,
        each -> {
          External attribute = owner.attribute(name(each));
          flow.effect(kind, attribute, node);
          if (kind == Kind.READ) flow.add(result, attribute);
        });
  }

  private void load(
      External target,
      AbstractValue name,
      Arguments arguments,
      ValueSet result,
      @Nullable Node node) {
    switch (name) {
      case Constant(String text) -> {
        boolean top = target.path().contains("__import__") && arguments.get(3, "fromlist") == null;
        found(new External(top ? text.split("\\.", 2)[0] : text), result, node);
      }
      case External(String path) when path.equals("builtins.__name__") ->
          flow.add(result, new ScopeDict(flow.module()));
      default -> flow.add(result, target.called());
    }
  }

  /** Executed text is not parsed: unless it is arithmetic or a version, it may do anything. */
  private void execute(AbstractValue text) {
    boolean harmless =
        switch (text) {
          case Constant(Object known) -> ExecutedText.isArithmetic(known);
          case External(String path) -> ExecutedText.isVersion(path);
          default -> false;
        };
    if (!harmless) flow.unreadable();
  }

  private void pairs(List<ValueSet> parts, ValueSet result) {
    Container pair = new Container(parts);
    parts.forEach(part -> flow.copy(part, pair.content));
    Container container = new Container(List.of());
    flow.add(container.content, pair);
    flow.add(result, container);
  }

  private void getter(boolean calls, ValueSet name, ValueSet result) {
    flow.forEach(
        name,
        each -> {
          boolean known = each instanceof Constant(String text) && !text.isEmpty();
          flow.add(result, known ? new AttributeGetter(name(each), calls) : AbstractValue.UNKNOWN);
        });
  }

  /** Calls a method of a container, a dictionary or a constant. */
  void method(
      AbstractValue receiver,
      String name,
      Arguments arguments,
      ValueSet result,
      @Nullable Node node) {
    switch (receiver) {
      case Container container -> ofBox(container, name, arguments, result);
      case Constant(String text) -> flow.folding().method(text, name, arguments, result);
      case ObjectDict _, ScopeDict _ -> ofDictionary(receiver, name, arguments, result, node);
      default -> flow.add(result, AbstractValue.UNKNOWN);
    }
  }

  private void ofBox(Container container, String name, Arguments arguments, ValueSet result) {
    ValueSet first = arguments.get(0);
    switch (name) {
      case "append", "add", "insert" -> {
        container.changed = true;
        arguments.positional().forEach(each -> flow.copy(each, container.content));
      }
      case "extend", "update" -> {
        container.changed = true;
        if (first != null) flow.copy(flow.attributes().elements(first), container.content);
        arguments.named().values().forEach(each -> flow.copy(each, container.content));
      }
      case "get", "pop", "setdefault" -> {
        if (first == null) flow.copy(container.content, result);
        else flow.attributes().element(container, first, result);
        ValueSet otherwise = arguments.get(1);
        if (otherwise != null) flow.copy(otherwise, result);
      }
      case "values", "copy" -> flow.add(result, container);
      case "items" -> pairs(List.of(container.keys, container.content), result);
      default -> flow.add(result, AbstractValue.UNKNOWN);
    }
  }

  private void ofDictionary(
      AbstractValue owner, String name, Arguments arguments, ValueSet result, @Nullable Node node) {
    ValueSet first = arguments.get(0);
    switch (name) {
      case "get", "__getitem__", "pop", "setdefault" -> {
        if (first == null) return;
        ValueSet read = new ValueSet();
        flow.attributes().element(owner, first, read);
        flow.forEach(read, value -> found(value, result, node));
        if (name.equals("pop")) delete(ValueSet.of(owner), first, node);
      }
      case "update" -> {
        arguments
            .named()
            .forEach(
                (key, set) -> write(ValueSet.of(owner), ValueSet.of(new Constant(key)), set, node));
        if (first != null) flow.forEach(first, value -> updated(owner, value, node));
      }
      default -> flow.add(result, AbstractValue.UNKNOWN);
    }
  }

  private void updated(AbstractValue owner, AbstractValue more, @Nullable Node node) {
    if (!(more instanceof Container container)) {
      touch(owner, Attributes.ANY, Kind.WRITE, node);
      return;
    }
    container.entries.forEach(
        (key, set) -> write(ValueSet.of(owner), ValueSet.of(new Constant(key)), set, node));
    if (container.changed || container.entries.isEmpty())
      touch(owner, Attributes.ANY, Kind.WRITE, node);
  }
}

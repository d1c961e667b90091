package dev.kbx.program;

import dev.kbx.program.Access.Kind;
import dev.kbx.program.Value.Box;
import dev.kbx.program.Value.Constant;
import dev.kbx.program.Value.Descriptor;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Getter;
import dev.kbx.program.Value.Instance;
import dev.kbx.program.Value.Made;
import dev.kbx.program.Value.Names;
import dev.kbx.program.Value.Namespace;
import dev.kbx.program.Value.Own;
import dev.kbx.program.Value.Partial;
import dev.kbx.syntax.Node;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Functions from elsewhere whose meaning matters to who calls what. */
final class LibraryModels {
  /** Make something else of a function that a class defines. */
  static final Set<String> DESCRIPTORS =
      Set.of(
          "builtins.property",
          "builtins.staticmethod",
          "builtins.classmethod",
          "functools.cached_property");

  /** Return their first argument, or something that is called or iterated in its place. */
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

  /** The first parameter's name, where it may be given by name. */
  private static final Map<String, String> FIRST =
      Map.of(
          "builtins.__import__", "name",
          "importlib.import_module", "name",
          "torch.compile", "model",
          "triton.jit", "fn",
          "unittest.mock.patch", "target",
          "unittest.mock.patch.object", "target");

  private static final External SYS_MODULES = new External("sys.modules");

  /** Arguments given in advance; no function takes more. */
  private static final int MAX_GIVEN = 64;

  private final ValueFlow flow;
  private final Calls calls;

  LibraryModels(ValueFlow flow, Calls calls) {
    this.flow = flow;
    this.calls = calls;
  }

  /** Calls a function from elsewhere. */
  void call(External target, Arguments arguments, Cell result, @Nullable Node node) {
    String path = target.path();
    Cell first = arguments.get(0, FIRST.getOrDefault(path, ""));
    if (target.unknown() || first == null) {
      plain(target, arguments, result, node);
      return;
    }
    if (TRANSPARENT.contains(path)) {
      flow.flow(first, result);
      return;
    }
    if (DESCRIPTORS.contains(path)) {
      String kind = path.endsWith("property") ? "property" : path.substring("builtins.".length());
      flow.each(
          first,
          value -> flow.add(result, value instanceof Own own ? new Descriptor(kind, own) : value));
      return;
    }
    Cell second = arguments.get(1);
    switch (path) {
      case "builtins.getattr" -> read(arguments, result, node);
      case "builtins.setattr" -> write(first, second, arguments.get(2), node);
      case "builtins.delattr" -> delete(first, second, node);
      case "builtins.vars" -> flow.each(first, value -> flow.add(result, dictionary(value)));
      case "builtins.eval", "builtins.exec" -> {
        flow.each(first, this::execute);
        flow.add(result, Value.UNKNOWN);
      }
      case "builtins.__import__", "importlib.import_module" ->
          flow.each(first, value -> load(target, value, arguments, result, node));
      case "functools.partial" ->
          flow.each(first, value -> flow.add(result, partial(value, arguments.from(1))));
      case "functools.reduce" -> {
        Cell items = flow.members().elements(second == null ? new Cell() : second);
        calls.callEach(first, Arguments.of(items, items), result);
      }
      case "builtins.map" -> {
        if (second != null) map(first, second, result);
      }
      case "builtins.filter" -> {
        if (second != null) flow.flow(second, result);
      }
      case "builtins.next" -> flow.flow(flow.members().elements(first), result);
      case "builtins.enumerate" ->
          pairs(List.of(Cell.of(Value.UNKNOWN), flow.members().elements(first)), result);
      case "builtins.zip" ->
          pairs(arguments.positional().stream().map(flow.members()::elements).toList(), result);
      case "operator.attrgetter", "operator.methodcaller" ->
          getter(path.endsWith("methodcaller"), first, result);
      case "unittest.mock.patch" ->
          flow.each(
              first,
              value -> {
                if (value instanceof Constant(String text)) {
                  flow.effect(Kind.WRITE, new External(text), node);
                }
              });
      case "unittest.mock.patch.object" ->
          write(first, arguments.get(1, "attribute"), arguments.get(2, "new"), node);
      case "sys.modules.get" -> {
        Cell module = new Cell();
        flow.members().element(SYS_MODULES, first, module);
        flow.each(module, value -> found(value, result, node));
      }
      default -> special(target, arguments, first, result, node);
    }
  }

  /**
   * Methods for attributes; called by a class, {@code Module.__setattr__(x, "a", b)}, of {@code x}.
   */
  private void special(
      External target, Arguments arguments, Cell first, Cell result, @Nullable Node node) {
    String path = target.path();
    Cell second = arguments.get(1);
    Cell third = arguments.get(2);
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

  /** One value, however often functions are given arguments: nested ones overflow the stack. */
  private static Value partial(Value function, Arguments more) {
    if (!(function instanceof Partial(Value inner, Arguments first))) {
      return new Partial(function, more);
    }
    Arguments all = first.and(more);
    return all.count() > MAX_GIVEN ? Value.UNKNOWN : new Partial(inner, all);
  }

  private void map(Cell function, Cell items, Cell result) {
    Box box = new Box(List.of());
    box.open = true;
    calls.callEach(function, Arguments.of(flow.members().elements(items)), box.content);
    flow.add(result, box);
  }

  /** A function that does nothing to values that we follow. */
  private void plain(External target, Arguments arguments, Cell result, @Nullable Node node) {
    switch (target.path()) {
      case "builtins.globals" -> flow.add(result, new Names(flow.module()));
      case "builtins.locals", "builtins.vars" ->
          flow.add(result, new Names(node == null ? flow.module() : flow.scopeOf(node)));
      case "builtins.super" -> {
        if (node != null) parents(flow.scopeOf(node), result);
      }
      case "builtins.dict" -> {
        Box box = new Box(List.of());
        arguments
            .named()
            .forEach((name, cell) -> {
              box.entries.put(name, cell);
              flow.flow(cell, box.content);
            });
        flow.add(result, box);
      }
      case "builtins.list", "builtins.set" -> flow.add(result, new Box(List.of()));
      case "triton.Config" ->
          flow.add(result, node == null ? target.called() : new Made(node, target.called()));
      default -> flow.add(result, target.called());
    }
  }

  private void parents(Scope from, Cell result) {
    Scope at = from;
    while (at != null && at.kind() != Scope.Kind.CLASS) at = at.parent().orElse(null);
    if (at == null) {
      flow.add(result, Value.UNKNOWN);
      return;
    }
    flow.each(
        at.result,
        base -> {
          if (base instanceof Own(Scope type, _)) flow.add(result, new Instance(type));
          else if (base instanceof External external) flow.add(result, external.called());
        });
  }

  private static Value dictionary(Value value) {
    return switch (value) {
      case Names _, Namespace _ -> value;
      default -> new Namespace(value);
    };
  }

  /** The constant name in a value, or {@link Members#ANY}. */
  private static String name(Value value) {
    return value instanceof Constant(String text) ? text : Members.ANY;
  }

  private void read(Arguments arguments, Cell result, @Nullable Node node) {
    Cell owner = arguments.get(0);
    Cell name = arguments.get(1, "name");
    if (owner == null || name == null) return;
    Cell read = new Cell();
    flow.each(owner, value -> flow.each(name, each -> flow.members().get(value, name(each), read)));
    flow.each(read, value -> found(value, result, node));
    Cell otherwise = arguments.get(2);
    if (otherwise != null) flow.flow(otherwise, result);
  }

  /** Something from elsewhere was named by text: that is a read. */
  private void found(Value value, Cell result, @Nullable Node node) {
    flow.add(result, value);
    flow.effect(Kind.READ, value, node);
  }

  private void write(Cell owner, @Nullable Cell name, @Nullable Cell value, @Nullable Node node) {
    if (name == null) return;
    flow.each(
        owner,
        each ->
            flow.each(
                name,
                text -> {
                  if (value != null) flow.members().set(each, name(text), value);
                  touch(each, name(text), Kind.WRITE, node);
                }));
  }

  private void delete(Cell owner, @Nullable Cell name, @Nullable Node node) {
    if (name == null) return;
    flow.each(owner, each -> flow.each(name, text -> touch(each, name(text), Kind.DELETE, node)));
  }

  /** Notes that an attribute of something from elsewhere is bound or deleted. */
  private void touch(Value owner, String name, Kind kind, @Nullable Node node) {
    if (owner instanceof External external) flow.effect(kind, external.attribute(name), node);
    if (owner instanceof Namespace(External of)) flow.effect(kind, of.attribute(name), node);
  }

  private void ownerOf(External method, Cell name, Kind kind, Cell result, @Nullable Node node) {
    String path = method.path();
    External owner = new External(path.substring(0, path.lastIndexOf('.')));
    flow.each(
        name,
        each -> {
          External attribute = owner.attribute(name(each));
          flow.effect(kind, attribute, node);
          if (kind == Kind.READ) flow.add(result, attribute);
        });
  }

  private void load(
      External target, Value name, Arguments arguments, Cell result, @Nullable Node node) {
    switch (name) {
      case Constant(String text) -> {
        boolean top = target.path().contains("__import__") && arguments.get(3, "fromlist") == null;
        found(new External(top ? text.split("\\.", 2)[0] : text), result, node);
      }
      case External(String path) when path.equals("builtins.__name__") ->
          flow.add(result, new Names(flow.module()));
      default -> flow.add(result, target.called());
    }
  }

  /** Executed text is not looked into: it may do anything, unless it is arithmetic. */
  private void execute(Value text) {
    boolean harmless = text instanceof Constant(Object known) && ExecutedText.isArithmetic(known);
    if (!harmless) flow.unreadable();
  }

  private void pairs(List<Cell> parts, Cell result) {
    Box pair = new Box(parts);
    parts.forEach(part -> flow.flow(part, pair.content));
    Box box = new Box(List.of());
    flow.add(box.content, pair);
    flow.add(result, box);
  }

  private void getter(boolean calls, Cell name, Cell result) {
    flow.each(
        name,
        each -> {
          boolean known = each instanceof Constant(String text) && !text.isEmpty();
          flow.add(result, known ? new Getter(name(each), calls) : Value.UNKNOWN);
        });
  }

  /** Calls a method of a container, a dictionary or a constant. */
  void method(Value receiver, String name, Arguments arguments, Cell result, @Nullable Node node) {
    switch (receiver) {
      case Box box -> ofBox(box, name, arguments, result);
      case Constant(String text) -> flow.folding().method(text, name, arguments, result);
      case Namespace _, Names _ -> ofDictionary(receiver, name, arguments, result, node);
      default -> flow.add(result, Value.UNKNOWN);
    }
  }

  private void ofBox(Box box, String name, Arguments arguments, Cell result) {
    Cell first = arguments.get(0);
    switch (name) {
      case "append", "add", "insert" -> {
        box.changed = true;
        arguments.positional().forEach(each -> flow.flow(each, box.content));
      }
      case "extend", "update" -> {
        box.changed = true;
        if (first != null) flow.flow(flow.members().elements(first), box.content);
        arguments.named().values().forEach(each -> flow.flow(each, box.content));
      }
      case "get", "pop", "setdefault" -> {
        if (first == null) flow.flow(box.content, result);
        else flow.members().element(box, first, result);
        Cell otherwise = arguments.get(1);
        if (otherwise != null) flow.flow(otherwise, result);
      }
      case "values", "copy" -> flow.add(result, box);
      case "items" -> pairs(List.of(box.keys, box.content), result);
      default -> flow.add(result, Value.UNKNOWN);
    }
  }

  private void ofDictionary(
      Value owner, String name, Arguments arguments, Cell result, @Nullable Node node) {
    Cell first = arguments.get(0);
    switch (name) {
      case "get", "__getitem__", "pop", "setdefault" -> {
        if (first == null) return;
        Cell read = new Cell();
        flow.members().element(owner, first, read);
        flow.each(read, value -> found(value, result, node));
        if (name.equals("pop")) delete(Cell.of(owner), first, node);
      }
      case "update" -> {
        arguments
            .named()
            .forEach((key, cell) -> write(Cell.of(owner), Cell.of(new Constant(key)), cell, node));
        if (first != null) flow.each(first, value -> updated(owner, value, node));
      }
      default -> flow.add(result, Value.UNKNOWN);
    }
  }

  private void updated(Value owner, Value more, @Nullable Node node) {
    if (!(more instanceof Box box)) {
      touch(owner, Members.ANY, Kind.WRITE, node);
      return;
    }
    box.entries.forEach((key, cell) -> write(Cell.of(owner), Cell.of(new Constant(key)), cell, node));
    if (box.changed || box.entries.isEmpty()) touch(owner, Members.ANY, Kind.WRITE, node);
  }
}

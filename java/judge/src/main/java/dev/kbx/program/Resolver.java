package dev.kbx.program;

import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Scope.Parameter;
import dev.kbx.program.Value.Arguments;
import dev.kbx.program.Value.Arguments.Argument;
import dev.kbx.program.Value.Constant;
import dev.kbx.program.Value.Container;
import dev.kbx.program.Value.Definition;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Instance;
import dev.kbx.program.Value.Launcher;
import dev.kbx.program.Value.Namespace;
import dev.kbx.program.Value.ObjectDict;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the names of a program: a name, an attribute or an element stands for all that is ever
 * assigned to it, in any order and under any condition.
 *
 * <p>Each expression is evaluated once, and again whenever something that it has read gets another
 * value, until nothing changes.
 */
final class Resolver {
  /** Stands for a name that is not a constant. */
  static final String ANY = "?";

  /** A variable or expression with more values becomes unknown. */
  private static final int MAX_VALUES = 32;

  /** Values read and characters put together for one program; beyond that it is unreadable. */
  private static final int MAX_WORK = 8_000_000;

  /** Combinations of constants that are put together, pieces of a text, elements of a constant. */
  static final int MAX_PARTS = 64;

  private static final External SYS_MODULES = new External("sys.modules");
  private static final External BUILTINS = new External("builtins");
  private static final External OWN_NAME = new External("builtins.__name__");

  /** A list whose elements are not all known yet. */
  private static final Object PENDING = new Object();

  /** What a variable, attribute or expression may be, in order of discovery. */
  static final class Slot {
    final Set<Value> values = new LinkedHashSet<>(4);

    /** Nodes whose evaluation has read it. */
    private final Set<Node> readers = new LinkedHashSet<>(4);
  }

  /** A read, binding or deletion of a path by a call: {@code setattr(torch, "x", y)}. */
  record Effect(Access.Kind kind, String path) {}

  private final PythonSource source;
  private final ScopeBuilder scopes;
  private final Scope module;
  private final Library library;
  private final Attributes attributes;
  private final Calls calls;
  private final Map<Node, Slot> slots = new LinkedHashMap<>();

  /** Containers by the node that makes them; its tuples by a list of it. */
  private final Map<Object, Container> containers = new HashMap<>();

  /** What each decorator is applied to. */
  private final Map<Node, Slot> decorated = new HashMap<>();

  private final Map<Node, Set<Effect>> effects = new HashMap<>();
  private final LinkedHashSet<Node> open = new LinkedHashSet<>();

  /** The node that is evaluated, null when all is; and the decorator that is applied by it. */
  private @Nullable Node evaluated;

  private Node site;
  private boolean readable;
  private int work;

  Resolver(PythonSource source, ScopeBuilder scopes, Scope module) {
    this.source = source;
    this.scopes = scopes;
    this.module = module;
    site = module.node();
    library = new Library(this);
    attributes = new Attributes(this, scopes, library);
    calls = attributes.calls();
    readable = source.understood();
    for (Scope scope : scopes.scopes()) parameters(scope);
    // Backwards: operands before their operators, so that most values arrive once.
    open.addAll(scopes.nodes().reversed());
    settle();
    // Slots that stayed empty may hold anything.
    for (Scope scope : scopes.scopes()) scope.variables.values().forEach(this::orUnknown);
    List.copyOf(slots.values()).forEach(this::orUnknown);
    settle();
  }

  private void settle() {
    while (!open.isEmpty()) {
      if (work > MAX_WORK) {
        giveUp();
        break;
      }
      Node node = open.removeFirst();
      site = node;
      evaluated = node;
      Set<Value> found = execute(node) ? null : evaluate(node);
      if (found != null) add(slot(node), found);
    }
    evaluated = null;
  }

  /** Leaves the rest unresolved: any variable and attribute may be anything. */
  private void giveUp() {
    readable = false;
    for (Scope scope : scopes.scopes()) {
      scope.slots().forEach(slot -> slot.values.add(External.UNKNOWN));
    }
    open.clear();
  }

  private void orUnknown(Slot slot) {
    if (slot.values.isEmpty()) add(slot, Set.of(External.UNKNOWN));
  }

  /** Whether all was resolved, and no text is executed that could do anything. */
  boolean readable() {
    return readable;
  }

  void unreadable() {
    readable = false;
  }

  /** The values that an expression may have. */
  Set<Value> valuesOf(Node node) {
    return slot(node).values;
  }

  /** The same; none for what was not used as an expression. */
  Set<Value> usedValuesOf(Node node) {
    Slot slot = slots.get(node);
    return slot == null ? Set.of() : slot.values;
  }

  /** How the call at a node uses paths by name. */
  Set<Effect> effects(Node node) {
    return effects.getOrDefault(node, Set.of());
  }

  /** Records how the evaluated node uses a path. */
  void effect(Access.Kind kind, Value value) {
    if (!(value instanceof External(String path)) || path.equals(ANY)) return;
    effects.computeIfAbsent(site, _ -> new LinkedHashSet<>()).add(new Effect(kind, path));
  }

  // Slots

  /** The slot of an expression: for a name, its variable. */
  Slot slot(Node node) {
    Node inner = node;
    while (inner.is("parenthesized_expression") && inner.children().size() == 3) {
      inner = inner.children().get(1);
    }
    Slot known = slots.get(inner);
    if (known != null) return known;
    Slot made =
        inner.is("identifier") ? variable(source.text(inner), scopes.scopeOf(inner)) : new Slot();
    slots.put(inner, made);
    return made;
  }

  /** What a slot holds; the evaluated node is evaluated again when it gets more. */
  List<Value> read(Slot slot) {
    if (evaluated != null) slot.readers.add(evaluated);
    work += 1 + slot.values.size();
    return List.copyOf(slot.values);
  }

  /** The values of a part of a node; none if the source is broken there. */
  private List<Value> read(Node node, String role) {
    Node part = node.child(role);
    return part == null ? List.of() : read(slot(part));
  }

  void add(Slot slot, Collection<? extends Value> more) {
    for (Value value : more) {
      boolean added = slot.values.add(slot.values.size() < MAX_VALUES ? value : External.UNKNOWN);
      if (added) open.addAll(slot.readers);
    }
  }

  /** The node that is evaluated, or the decorator that it applies. */
  Node at() {
    return site;
  }

  /** The scope of the node that is evaluated. */
  Scope scope() {
    return scopes.scopeOf(site);
  }

  Attributes attributes() {
    return attributes;
  }

  Scope module() {
    return module;
  }

  /** The variable that a name refers to in a scope. */
  Slot variable(String name, Scope from) {
    boolean first = true;
    for (Scope scope = from; scope != null; scope = scope.parent().orElse(null)) {
      if (scope.globals.contains(name)) break;
      boolean visible = first || scope.kind() != Kind.CLASS;
      first = false;
      if (!visible || scope.nonlocals.contains(name)) continue;
      Slot slot = scope.variables.get(name);
      if (slot != null) return slot;
    }
    return module.variables.computeIfAbsent(name, _ -> unbound(name, from));
  }

  /** A name that the file does not bind: a builtin, or imported with a star. */
  private Slot unbound(String name, Scope from) {
    Slot slot = new Slot();
    if (name.equals("__builtins__")) slot.values.add(BUILTINS);
    else if (Library.isBuiltin(name)) slot.values.add(BUILTINS.attribute(name));
    for (Scope at = from; at != null; at = at.parent().orElse(null)) {
      for (String star : at.stars) slot.values.add(new External(star + "." + name));
    }
    slot.values.addAll(module.attribute(ANY).values);
    return slot;
  }

  // Definitions

  private void parameters(Scope scope) {
    for (Parameter each : scope.parameters) {
      boolean self =
          scope.kind() == Kind.FUNCTION
              && Attributes.isMethod(scope)
              && each.equals(scope.parameters.getFirst());
      Value value = self ? new Instance(scope.parent().orElseThrow()) : External.UNKNOWN;
      if (each.stars() > 0) value = collection(each.node(), Set.of(External.UNKNOWN));
      add(parameter(scope, each), Set.of(value));
    }
  }

  static Slot parameter(Scope function, Parameter parameter) {
    return function.variables.computeIfAbsent(parameter.name(), _ -> new Slot());
  }

  /** Binds the name of a function or class; decorators of other modules return a wrapper. */
  private void define(Node node) {
    Scope scope = scopes.defined(node);
    if (scope == null) return;
    defaults(scope);
    Node bases = node.child("superclasses");
    for (Node base : bases == null ? List.<Node>of() : bases.children()) {
      if (!base.is("(", ")", ",", "keyword_argument")) add(scope.result, read(slot(base)));
    }
    Set<Value> defined = Set.of(new Definition(scope, null));
    for (Node decorator : scope.decorators.reversed()) {
      site = decorator;
      Slot before = decorated.computeIfAbsent(decorator, _ -> new Slot());
      add(before, defined);
      Set<Value> after = new LinkedHashSet<>();
      for (Value each : read(slot(decorator))) {
        boolean wraps = each instanceof External(String path) && !Library.isDescriptor(path);
        after.addAll(wraps ? read(before) : calls.call(each, Arguments.of(before)));
      }
      defined = after;
    }
    add(variable(scope.name(), scope.parent().orElseThrow()), defined);
  }

  private void defaults(Scope scope) {
    for (Parameter each : scope.parameters) {
      if (each.value() != null) add(parameter(scope, each), read(slot(each.value())));
    }
  }

  private void imports(Node statement) {
    Node from = statement.child("module_name");
    String prefix = from == null ? "" : source.text(from) + ".";
    if (statement.is("future_import_statement")) prefix = "__future__.";
    for (Node child : statement.children()) {
      if (child.is("wildcard_import")) readable = false;
      if (!"name".equals(child.field())) continue;
      Node alias = child.child("alias");
      Node name = child.child("name");
      String full = source.text(name == null ? child : name);
      // `import a.b` binds a.
      if (prefix.isEmpty() && alias == null) full = full.split("\\.", 2)[0];
      Slot bound = variable(alias == null ? full : source.text(alias), scopes.scopeOf(statement));
      add(bound, Set.of(new External(prefix + full)));
    }
  }

  /** Binds the names, attributes and elements of a target. */
  private void bind(@Nullable Node target, Collection<Value> values) {
    if (target == null) return;
    record Part(Node target, Collection<Value> values) {}
    Deque<Part> parts = new ArrayDeque<>(List.of(new Part(target, values)));
    while (!parts.isEmpty()) {
      Part part = parts.pop();
      Node node = part.target;
      switch (node.kind()) {
        case "identifier" -> add(slot(node), part.values);
        case "attribute" -> {
          for (Value owner : read(node, "object")) attributes.set(owner, name(node), part.values);
        }
        case "subscript" -> {
          for (Value owner : read(node, "value")) {
            if (owner instanceof Container container) {
              Node key = node.child("subscript");
              boolean slice = key != null && key.is("slice");
              change(container, slice ? elements(part.values) : part.values);
              add(container.keys, read(node, "subscript"));
            } else {
              for (Value key : read(node, "subscript"))
                attributes.set(owner, Library.name(key), part.values);
            }
          }
        }
        case "parenthesized_expression" ->
            node.children().forEach(each -> parts.push(new Part(each, part.values)));
        case "list_splat_pattern", "list_splat" ->
            parts.push(new Part(node.children().getLast(), Set.of(collection(node, part.values))));
        case "pattern_list",
            "tuple_pattern",
            "list_pattern",
            "tuple",
            "list",
            "expression_list" -> {
          int at = 0;
          boolean fixed = true;
          for (Node each : node.children()) {
            if (each.is("(", ")", "[", "]", ",")) continue;
            if (each.is("list_splat_pattern", "list_splat")) fixed = false;
            int index = fixed ? at++ : Integer.MAX_VALUE;
            Set<Value> items = new LinkedHashSet<>();
            for (Value value : part.values) items.addAll(item(value, index));
            parts.push(new Part(each, items));
          }
        }
        default -> {}
      }
    }
  }

  private String name(Node attribute) {
    Node name = attribute.child("attribute");
    return name == null ? ANY : source.text(name);
  }

  // Expressions

  /** Executes a statement; false for what is none. */
  private boolean execute(Node node) {
    List<Node> parts = node.children();
    switch (node.kind()) {
      case "import_statement", "import_from_statement", "future_import_statement" -> imports(node);
      case "function_definition", "class_definition" -> define(node);
      case "for_statement", "for_in_clause" ->
          bind(node.child("left"), iterated(read(node, "right")));
      case "as_pattern" -> as(node);
      case "augmented_assignment" -> augmented(node);
      case "return_statement" -> {
        if (parts.size() > 1) add(scope().result, read(slot(parts.get(1))));
      }
      case "yield" -> {
        if (parts.size() < 2) break;
        List<Value> value = read(slot(parts.getLast()));
        boolean from = parts.size() > 2;
        add(scope().result, Set.of(collection(node, from ? elements(value) : value)));
      }
      case "delete_statement" -> {
        for (Node each : node.all()) {
          for (Value owner : each.is("subscript") ? read(each, "value") : List.<Value>of()) {
            if (owner instanceof Container container) change(container, Set.of());
          }
        }
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  /** Evaluates an expression: what it may be now; null for what is none. */
  private @Nullable Set<Value> evaluate(Node node) {
    Set<Value> found = new LinkedHashSet<>();
    List<Node> parts = node.children();
    switch (node.kind()) {
      case "lambda" -> {
        Scope scope = scopes.defined(node);
        if (scope == null) return null;
        defaults(scope);
        add(scope.result, read(node, "body"));
        found.add(new Definition(scope, null));
      }
      // `a = b = c` has an assignment on its right side; `(a := b)` has a value.
      case "assignment" -> {
        found.addAll(read(node, "right"));
        bind(node.child("left"), found);
      }
      case "named_expression" -> {
        found.addAll(read(node, "value"));
        bind(node.child("name"), found);
      }
      case "attribute" -> {
        for (Value owner : read(node, "object"))
          found.addAll(attributes.attribute(owner, name(node)));
      }
      case "subscript" -> {
        Node index = node.child("subscript");
        for (Value owner : read(node, "value")) {
          if (index != null && !index.is("slice")) found.addAll(element(owner, slot(index)));
          // A slice holds no other elements than the container.
          else if (!(owner instanceof Container)) found.add(External.UNKNOWN);
          else found.add(collection(node, elements(List.of(owner))));
        }
      }
      case "call" -> {
        Arguments arguments = arguments(node.child("arguments"));
        for (Value target : read(node, "function")) found.addAll(calls.call(target, arguments));
      }
      case "string", "concatenated_string" -> found.addAll(text(node));
      case "integer", "float", "true", "false", "unary_operator" ->
          source.literal(node).ifPresent(value -> found.add(new Constant(value)));
      case "list", "tuple", "set", "expression_list" -> found.add(display(node));
      case "dictionary" -> found.add(dictionary(node));
      case "list_comprehension",
          "set_comprehension",
          "generator_expression",
          "dictionary_comprehension" -> {
        Node body = node.child("body");
        if (body == null) break;
        boolean pair = body.is("pair");
        Container made = collection(node, pair ? read(body, "value") : read(slot(body)));
        if (pair) add(made.keys, read(body, "key"));
        found.add(made);
      }
      case "conditional_expression" -> {
        if (parts.size() != 5) break;
        found.addAll(read(slot(parts.getFirst())));
        found.addAll(read(slot(parts.getLast())));
      }
      case "boolean_operator" -> {
        found.addAll(read(node, "left"));
        found.addAll(read(node, "right"));
      }
      case "binary_operator" -> found.addAll(combined(node));
      case "await", "type" -> {
        if (!parts.isEmpty()) found.addAll(read(slot(parts.getLast())));
      }
      default -> {
        return null;
      }
    }
    return found;
  }

  /** The arguments of a call in the source. */
  private Arguments arguments(@Nullable Node list) {
    if (list == null) return Arguments.NONE;
    if (!list.is("argument_list")) return Arguments.of(slot(list));
    List<Argument> positional = new ArrayList<>();
    Map<String, Slot> named = new LinkedHashMap<>();
    List<Slot> mapped = new ArrayList<>();
    for (Node each : list.children()) {
      Node value = each.child("value");
      Node name = each.child("name");
      switch (each.kind()) {
        case "(", ")", "," -> {}
        case "list_splat" -> positional.add(new Argument(slot(each.children().getLast()), true));
        case "dictionary_splat" -> mapped.add(slot(each.children().getLast()));
        case "keyword_argument" -> {
          if (name != null && value != null) named.put(source.text(name), slot(value));
        }
        default -> positional.add(new Argument(slot(each), false));
      }
    }
    return new Arguments(positional, named, mapped);
  }

  /** {@code with value as target}; targets of {@code except} and {@code case} are unknown. */
  private void as(Node node) {
    Node target = node.child("alias");
    if (target == null || target.children().isEmpty()) return;
    Node parent = scopes.parent(node);
    boolean with = parent != null && parent.is("with_item");
    Set<Value> bound = new LinkedHashSet<>();
    for (Value each : read(slot(node.children().getFirst()))) {
      // An object of the file may return another one from `__enter__`.
      if (!(each instanceof External type)) bound.add(External.UNKNOWN);
      else if (!with) bound.add(type.called());
      if (with) bound.add(each);
    }
    bind(target.children().getFirst(), bound);
  }

  private void augmented(Node node) {
    List<Value> right = read(node, "right");
    for (Value value : read(node, "left")) {
      if (value instanceof Container container) change(container, elements(right));
      // `vars(torch) |= more`
      else for (Value more : right) library.update(value, more);
    }
    bind(node.child("left"), combined(node));
  }

  private Container display(Node node) {
    Container container = container(node);
    List<Slot> items = new ArrayList<>();
    for (Node each : node.children()) {
      if (each.is("[", "]", "(", ")", "{", "}", ",")) continue;
      if (each.is("list_splat")) {
        container.open = true;
        add(container.content, elements(read(slot(each.children().getLast()))));
      } else {
        items.add(slot(each));
        add(container.content, read(slot(each)));
      }
    }
    if (!container.open) container.items = items;
    return container;
  }

  private Container dictionary(Node node) {
    Container container = collection(node, Set.of());
    for (Node pair : node.children()) {
      if (pair.is("dictionary_splat")) {
        change(container, elements(read(slot(pair.children().getLast()))));
      }
      if (!pair.is("pair")) continue;
      List<Value> value = read(pair, "value");
      add(container.content, value);
      for (Value key : read(pair, "key")) {
        add(container.keys, Set.of(key));
        if (key instanceof Constant(Object known)) put(container, known, value);
      }
    }
    return container;
  }

  /** What {@code a + b} or {@code a += b} is for constants. */
  private Set<Value> combined(Node node) {
    Node left = node.child("left");
    Node right = node.child("right");
    Node operator = node.child("operator");
    if (left == null || right == null || operator == null) return Set.of();
    String text = source.text(operator);
    String sign = text.endsWith("=") ? text.substring(0, text.length() - 1) : text;
    return combine(
        List.of(slot(left), slot(right)),
        both -> ConstantEvaluator.binary(sign, both.get(0), both.get(1)));
  }

  /** A string literal, implicit concatenation or f-string. */
  private Set<Value> text(Node node) {
    Object literal = source.literal(node).orElse(null);
    if (literal != null) return Set.of(new Constant(literal));
    List<Slot> pieces = new ArrayList<>();
    for (Node part : node.children()) {
      Node expression = part.child("expression");
      if (part.is("string")) pieces.add(slot(part));
      if (part.is("string_content")) {
        Slot piece = slot(part);
        add(piece, Set.of(new Constant(source.piece(node, part))));
        pieces.add(piece);
      }
      if (part.is("interpolation") && expression != null) {
        boolean plain =
            part.children().stream()
                .noneMatch(c -> c.is("format_specifier", "type_conversion", "="));
        if (!plain) return Set.of(External.UNKNOWN);
        pieces.add(slot(expression));
      }
    }
    return combine(pieces, ConstantEvaluator::concatenated);
  }

  // Constants

  /**
   * Applies a function to every combination of constants.
   *
   * @param fold gets one constant for each part; returns null for an unknown result
   */
  Set<Value> combine(List<Slot> parts, Function<List<Object>, @Nullable Object> fold) {
    Set<Value> found = new LinkedHashSet<>();
    List<List<Object>> choices = List.of(List.of());
    if (parts.size() > MAX_PARTS) return Set.of(External.UNKNOWN);
    for (Slot part : parts) {
      List<List<Object>> longer = new ArrayList<>();
      for (Value value : read(part)) {
        Object constant = constant(value);
        if (constant == null) found.add(External.UNKNOWN);
        if (constant == null || constant.equals(PENDING)) continue;
        for (List<Object> before : choices) {
          List<Object> chosen = new ArrayList<>(before);
          chosen.add(constant);
          longer.add(chosen);
        }
        work += choices.size() * parts.size();
      }
      if (longer.size() > MAX_PARTS) return Set.of(External.UNKNOWN);
      choices = longer;
    }
    for (List<Object> each : choices) {
      Object result = fold.apply(each);
      if (result instanceof String text) work += text.length();
      found.add(result == null ? External.UNKNOWN : new Constant(result));
    }
    return found;
  }

  /**
   * A String, Long, Double or Boolean, or a List of those; {@link #PENDING} while a list is
   * incomplete; null for everything else.
   */
  private @Nullable Object constant(Value value) {
    if (value instanceof Constant(Object known)) return known;
    if (!(value instanceof Container container)) return null;
    read(container.content);
    if (container.changed || container.open || !container.entries.isEmpty()) return null;
    if (container.items.size() > MAX_PARTS) return null;
    List<Object> items = new ArrayList<>();
    for (Slot slot : container.items) {
      List<Value> item = read(slot);
      if (item.isEmpty()) return PENDING;
      if (item.size() > 1 || !(item.getFirst() instanceof Constant(Object known))) return null;
      items.add(known);
    }
    return items;
  }

  /** The constant that is the only value. */
  Optional<Object> constant(Set<Value> values) {
    return values.size() == 1
        ? Optional.ofNullable(constant(values.iterator().next()))
        : Optional.empty();
  }

  /** The constants among values. */
  Set<Object> constants(Collection<Value> values) {
    Set<Object> found = new LinkedHashSet<>();
    for (Value value : values) {
      Object constant = constant(value);
      if (constant != null) found.add(constant);
    }
    return found;
  }

  // Containers

  /** The container that a node makes, the same one whenever it is evaluated. */
  Container container(Node node) {
    return containers.computeIfAbsent(node, _ -> new Container());
  }

  /** A container of unknown size that a node makes. */
  Container collection(Node node, Collection<Value> elements) {
    Container container = container(node);
    container.open = true;
    add(container.content, elements);
    return container;
  }

  /** Sets the element at a constant key of a new dictionary. */
  void put(Container container, Object key, Collection<Value> value) {
    add(container.entries.computeIfAbsent(key, _ -> new Slot()), value);
  }

  /** Adds elements; the index or key of any element may be another then. */
  void change(Container container, Collection<Value> more) {
    if (!container.changed) open.addAll(container.content.readers);
    container.changed = true;
    add(container.content, more);
  }

  boolean isChanged(Container container) {
    read(container.content);
    return container.changed;
  }

  /** A container of tuples that the evaluated node makes. */
  Container tuples(List<? extends Collection<Value>> parts) {
    Container tuple = containers.computeIfAbsent(List.of(site), _ -> new Container());
    if (tuple.items.isEmpty()) tuple.items = parts.stream().map(_ -> new Slot()).toList();
    for (int i = 0; i < parts.size(); i++) {
      if (i < tuple.items.size()) add(tuple.items.get(i), parts.get(i));
      else change(tuple, parts.get(i));
      add(tuple.content, parts.get(i));
    }
    return collection(site, Set.of(tuple));
  }

  /** Any element of any of these values. */
  Set<Value> elements(Collection<Value> owners) {
    Set<Value> found = new LinkedHashSet<>();
    for (Value owner : owners) {
      switch (owner) {
        case Container container -> found.addAll(read(container.content));
        case External external -> found.add(external.element());
        case ObjectDict(Value of) -> found.addAll(attributes.attribute(of, ANY));
        case Namespace names -> found.addAll(attributes.attribute(names, ANY));
        default -> found.add(External.UNKNOWN);
      }
    }
    return found;
  }

  /** What a loop over any of these values yields: of a dictionary its keys, of others elements. */
  Set<Value> iterated(Collection<Value> owners) {
    Set<Value> found = elements(owners);
    for (Value owner : owners) {
      if (owner instanceof Container container) found.addAll(read(container.keys));
    }
    return found;
  }

  /** The element of one value at a fixed position. */
  private Set<Value> item(Value owner, int index) {
    return owner instanceof Container container && index < container.items.size()
        ? entry(container, (long) index)
        : elements(Set.of(owner));
  }

  /** The element of a container at an index or key. */
  private Set<Value> entry(Container container, Object key) {
    List<Value> all = read(container.content);
    Slot slot = container.entries.get(key);
    if (key instanceof Long at && !container.items.isEmpty()) {
      long index = at < 0 ? container.items.size() + at : at;
      boolean inside = index >= 0 && index < container.items.size();
      slot = inside ? container.items.get((int) index) : null;
    }
    Set<Value> found = new LinkedHashSet<>(slot == null ? all : read(slot));
    if (container.changed) found.addAll(all);
    return found;
  }

  /** An element of one value, by its possible keys. */
  Set<Value> element(Value owner, Slot keys) {
    if (owner instanceof Definition(Scope scope, _)) {
      if (scope.kind() != Kind.CLASS) return Set.of(new Launcher(scope));
      return new LinkedHashSet<>(List.of(owner, External.UNKNOWN));
    }
    Set<Value> found = new LinkedHashSet<>();
    for (Value key : read(keys)) found.addAll(at(owner, key));
    return found;
  }

  private Set<Value> at(Value owner, Value key) {
    String name = Library.name(key);
    return switch (owner) {
      case Container container when key instanceof Constant(Object known) ->
          entry(container, known);
      case External external when external.equals(SYS_MODULES) -> {
        if (key.equals(OWN_NAME)) yield Set.of(new Namespace(module));
        yield Set.of(name.equals(ANY) ? SYS_MODULES.element() : new External(name));
      }
      case External external when external.equals(BUILTINS) -> Set.of(external.attribute(name));
      case ObjectDict(Value of) -> attributes.attribute(of, name);
      case Namespace names -> attributes.attribute(names, name);
      default -> elements(Set.of(owner));
    };
  }
}

package dev.kbx.program;

import dev.kbx.program.Library.Arguments;
import dev.kbx.program.Scope.Kind;
import dev.kbx.program.Scope.Parameter;
import dev.kbx.program.Value.Constant;
import dev.kbx.program.Value.Container;
import dev.kbx.program.Value.Definition;
import dev.kbx.program.Value.External;
import dev.kbx.program.Value.Instance;
import dev.kbx.program.Value.Launcher;
import dev.kbx.syntax.BindingTargets;
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
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the names of a program: imports, aliases, attributes, assignments, and parameters of
 * functions that the file itself calls. A name stands for all that is ever assigned to it.
 *
 * <p>All expressions are evaluated in source order, a few times: what is assigned or returned
 * further down counts from the next pass on.
 */
final class Resolver {
  /** Stands for a name that is not a constant. */
  static final String ANY = "?";

  /** Passes in which variables take values as they are; later ones make variables unknown. */
  private static final int EXACT_PASSES = 5;

  private static final int MAX_PASSES = 16;

  /** A variable or expression with more values becomes unknown. */
  private static final int MAX_VALUES = 32;

  /** Classes that an attribute is looked up in. */
  private static final int MAX_BASES = 32;

  /** Characters of computed text; names and paths are shorter. */
  private static final int MAX_TEXT = 1 << 12;

  /** Methods that add elements to a container. */
  private static final Set<String> CHANGES =
      Set.of("add", "append", "extend", "insert", "setdefault", "update");

  private final PythonSource source;
  private final ScopeBuilder scopes;
  private final Scope module;
  private final Library library = new Library(this);
  private final Map<Node, Set<Value>> values = new HashMap<>();
  private final Map<Node, String> texts = new HashMap<>();
  private final Map<Node, Container> containers = new HashMap<>();
  private final Map<Scope, Set<Value>> ancestors = new HashMap<>();
  private int pass;
  private boolean changed;

  /** Nothing new was found: what still has no value may be anything. */
  private boolean complete;

  Resolver(PythonSource source, ScopeBuilder scopes, Scope module) {
    this.source = source;
    this.scopes = scopes;
    this.module = module;
  }

  /** Resolves everything; false if values may be missing after the last pass. */
  boolean resolve() {
    for (Scope scope : scopes.scopes()) {
      for (Parameter each : scope.parameters()) {
        boolean self = isMethod(scope) && each.equals(scope.parameters.getFirst());
        Value value = self ? new Instance(scope.parent().orElseThrow()) : External.UNKNOWN;
        scope.variables.computeIfAbsent(each.name(), _ -> new LinkedHashSet<>()).add(value);
      }
    }
    List<Node> nodes = scopes.inEvaluationOrder();
    for (pass = 0; pass < MAX_PASSES; pass++) {
      changed = false;
      ancestors.clear();
      for (Node node : nodes) {
        Set<Value> found = evaluate(node);
        if (found != null) values.put(node, found);
      }
      if (pass == 0) nodes.removeIf(node -> !values.containsKey(node) || isFixed(node));
      if (changed) continue;
      if (complete) return true;
      complete = true;
      for (Scope scope : scopes.scopes()) {
        for (Set<Value> each : scope.variables.values()) {
          if (each.isEmpty()) each.add(External.UNKNOWN);
        }
      }
    }
    return false;
  }

  /** Whether one pass tells the values of a node: of names, literals and imports. */
  private static boolean isFixed(Node node) {
    return node.children().isEmpty()
        || node.is("string", "concatenated_string", "import_statement", "import_from_statement");
  }

  private static boolean isMethod(Scope scope) {
    return scope.kind() == Kind.FUNCTION && scope.parent().orElseThrow().kind() == Kind.CLASS;
  }

  /** The values that an expression may have. */
  Set<Value> valuesOf(Node node) {
    Node inner = node;
    while (inner.is("parenthesized_expression") && inner.children().size() == 3) {
      inner = inner.children().get(1);
    }
    Set<Value> known = values.get(inner);
    if (known != null) return known;
    if (!inner.is("identifier")) return complete ? Set.of(External.UNKNOWN) : Set.of();
    Set<Value> variable = variable(source.text(inner), scopes.scopeOf(inner));
    values.put(inner, variable);
    return variable;
  }

  /** The same; none for what is not used as an expression. */
  Set<Value> usedValuesOf(Node node) {
    return values.getOrDefault(node, Set.of());
  }

  /** How the call at a node uses paths by name. */
  Set<Library.Effect> effects(Node node) {
    return library.effects(node);
  }

  Scope scopeOf(Node node) {
    return scopes.scopeOf(node);
  }

  // Variables

  /** The variable that a name refers to in a scope. */
  private Set<Value> variable(String name, Scope from) {
    boolean first = true;
    for (Scope scope = from; scope != null; scope = scope.parent().orElse(null)) {
      if (scope.globals.contains(name)) break;
      boolean visible = first || scope.kind() != Kind.CLASS;
      first = false;
      if (!visible || scope.nonlocals.contains(name)) continue;
      Set<Value> variable = scope.variables.get(name);
      if (variable != null) return variable;
    }
    return module.variables.computeIfAbsent(name, _ -> unbound(name, from));
  }

  /** A name that the file does not bind: a builtin, or imported with a star. */
  private static Set<Value> unbound(String name, Scope from) {
    Set<Value> found = new LinkedHashSet<>();
    if (name.equals("__builtins__")) found.add(new External("builtins"));
    else if (Builtins.NAMES.contains(name)) found.add(new External("builtins." + name));
    for (Scope at = from; at != null; at = at.parent().orElse(null)) {
      for (String star : at.stars) found.add(new External(star + "." + name));
    }
    if (found.isEmpty()) found.add(External.UNKNOWN);
    return found;
  }

  /** A variable of the file's top level by its name; any of them if that is not constant. */
  private Set<Value> own(String name) {
    if (!name.equals(ANY)) return module.variables.getOrDefault(name, Set.of());
    Set<Value> all = new LinkedHashSet<>(Set.of(External.UNKNOWN));
    for (Set<Value> each : module.variables.values()) all.addAll(each);
    return all;
  }

  /** Adds values to a variable. */
  private void add(Collection<Value> more, Set<Value> variable) {
    for (Value value : more) {
      if (variable.contains(value)) continue;
      boolean exact = pass < EXACT_PASSES && variable.size() < MAX_VALUES;
      changed |= variable.add(exact ? value : External.UNKNOWN);
    }
  }

  /** Binds the names, attributes and elements of a target to values. */
  private void bind(@Nullable Node target, Set<Value> value) {
    if (target == null) return;
    record Part(Node target, Set<Value> value) {}
    Deque<Part> open = new ArrayDeque<>(List.of(new Part(target, value)));
    while (!open.isEmpty()) {
      Part part = open.pop();
      Node node = part.target;
      switch (node.kind()) {
        case "identifier" -> add(part.value, valuesOf(node));
        case "attribute" -> {
          String name = text(node.child("attribute"));
          for (Value owner : each(node, "object")) bindAttribute(owner, name, part.value);
        }
        case "subscript" -> {
          for (Value owner : each(node, "value")) {
            if (owner instanceof Container container) extend(container, part.value);
          }
        }
        case "list_splat_pattern", "list_splat" ->
            open.push(new Part(node.children().getLast(), Set.of(rest(node, part.value))));
        case "parenthesized_expression" ->
            node.children().forEach(each -> open.push(new Part(each, part.value)));
        case "pattern_list", "tuple_pattern", "list_pattern" -> {
          long at = 0;
          boolean fixed = true;
          for (Node each : node.children()) {
            if (each.is("(", ")", "[", "]", ",")) continue;
            fixed &= !each.is("list_splat_pattern");
            open.push(new Part(each, fixed ? item(part.value, at++) : elements(part.value)));
          }
        }
        default -> {}
      }
    }
  }

  private Container rest(Node node, Set<Value> elements) {
    Container rest = container(node);
    extend(rest, elements);
    return rest;
  }

  /** Binds an attribute of one value. */
  void bindAttribute(Value owner, String name, Set<Value> value) {
    switch (owner) {
      case Instance(Scope type) -> add(value, type.attribute(name));
      case Definition(Scope scope, _) -> add(value, scope.attribute(name));
      default -> {}
    }
  }

  // Expressions

  /** The values of an expression, after those of its parts; null for what has no value. */
  private @Nullable Set<Value> evaluate(Node node) {
    Set<Value> found = new LinkedHashSet<>();
    List<Node> parts = node.children();
    switch (node.kind()) {
      case "import_statement", "import_from_statement", "future_import_statement" -> imports(node);
      case "function_definition", "class_definition" -> define(node);
      case "for_statement", "for_in_clause" ->
          bind(node.child("left"), elements(given(node, "right")));
      case "as_pattern_target", "case_pattern" -> {
        for (Node each : BindingTargets.of(node)) {
          if (each.is("identifier")) add(Set.of(External.UNKNOWN), valuesOf(each));
        }
      }
      case "return_statement" -> {
        if (parts.size() > 1) add(valuesOf(parts.get(1)), scopes.scopeOf(node).result);
      }
      case "augmented_assignment" -> {
        String operator = text(node.child("operator")).replace("=", "");
        bind(node.child("left"), combined(operator, given(node, "left"), given(node, "right")));
      }
      case "assignment" -> {
        found.addAll(given(node, "right"));
        bind(node.child("left"), found);
      }
      case "named_expression" -> {
        found.addAll(given(node, "value"));
        bind(node.child("name"), found);
      }
      case "lambda" -> {
        Scope scope = scopes.defined(node);
        if (scope == null) return null;
        add(given(node, "body"), scope.result);
        found.add(new Definition(scope, null));
      }
      case "attribute" -> {
        String name = text(node.child("attribute"));
        for (Value owner : each(node, "object")) found.addAll(attribute(owner, name));
      }
      case "subscript" -> {
        Node index = node.child("subscript");
        for (Value owner : each(node, "value")) {
          if (index != null && !index.is("slice")) found.addAll(element(owner, valuesOf(index)));
          // A slice holds no other elements than the container.
          else found.add(owner instanceof Container ? owner : External.UNKNOWN);
        }
      }
      case "call" -> {
        Arguments arguments = arguments(node.child("arguments"));
        for (Value target : each(node, "function")) found.addAll(call(target, arguments, node));
      }
      case "string", "integer", "float", "true", "false", "unary_operator", "concatenated_string" ->
          found.add(source.literal(node).<Value>map(Constant::new).orElse(External.UNKNOWN));
      case "binary_operator" ->
          found.addAll(
              combined(text(node.child("operator")), given(node, "left"), given(node, "right")));
      case "boolean_operator" -> {
        found.addAll(given(node, "left"));
        found.addAll(given(node, "right"));
      }
      case "conditional_expression" -> {
        found.addAll(valuesOf(parts.getFirst()));
        found.addAll(valuesOf(parts.getLast()));
      }
      case "list", "tuple", "set", "expression_list" -> found.add(display(node));
      case "dictionary" -> {
        Container container = container(node);
        for (Node each : parts) {
          if (each.is("dictionary_splat")) extend(container, Set.of(External.UNKNOWN));
          for (Value key : each(each, "key")) put(container, key, given(each, "value"));
        }
        found.add(container);
      }
      case "list_comprehension",
          "set_comprehension",
          "generator_expression",
          "dictionary_comprehension" -> {
        Node body = node.child("body");
        if (body != null) {
          extend(container(node), body.is("pair") ? given(body, "value") : valuesOf(body));
        }
        found.add(container(node));
      }
      default -> {
        return null;
      }
    }
    if (found.size() > MAX_VALUES) return Set.of(External.UNKNOWN);
    return found.isEmpty() && complete ? Set.of(External.UNKNOWN) : found;
  }

  /** The values of a part of a node; none if the source is broken there. */
  private Set<Value> given(Node node, String role) {
    Node part = node.child(role);
    return part == null ? Set.of() : valuesOf(part);
  }

  /** The same, to walk while variables change. */
  private List<Value> each(Node node, String role) {
    return List.copyOf(given(node, role));
  }

  private String text(@Nullable Node node) {
    return node == null ? ANY : texts.computeIfAbsent(node, source::text);
  }

  private void imports(Node statement) {
    Node module = statement.child("module_name");
    String from = module == null ? "" : source.text(module) + ".";
    if (statement.is("future_import_statement")) from = "__future__.";
    for (Node child : statement.children()) {
      if (!"name".equals(child.field())) continue;
      Node alias = child.child("alias");
      Node name = child.child("name");
      String full = source.text(name == null ? child : name);
      // `import a.b` binds a.
      if (from.isEmpty() && alias == null) full = full.split("\\.", 2)[0];
      String bound = alias == null ? full : source.text(alias);
      add(List.of(new External(from + full)), variable(bound, scopes.scopeOf(statement)));
    }
  }

  /** Binds the name of a function or class; foreign decorators are taken to return a wrapper. */
  private void define(Node node) {
    Scope scope = scopes.defined(node);
    if (scope == null) return;
    Node bases = node.child("superclasses");
    for (Node base : bases == null ? List.<Node>of() : bases.children()) {
      if (!base.is("(", ")", ",", "keyword_argument")) add(valuesOf(base), scope.result);
    }
    for (Parameter each : scope.parameters) {
      if (each.value() != null) add(valuesOf(each.value()), variable(each.name(), scope));
    }
    Set<Value> defined = Set.of(new Definition(scope, null));
    for (Node decorator : scope.decorators.reversed()) {
      Set<Value> made = new LinkedHashSet<>();
      for (Value each : List.copyOf(valuesOf(decorator))) {
        if (each instanceof External) made.addAll(defined);
        else made.addAll(call(each, new Arguments(List.of(defined), Map.of()), decorator));
      }
      defined = made;
    }
    add(defined, variable(scope.name(), scope.parent().orElseThrow()));
  }

  /** What an operator makes of constants: sums of text, and whole numbers. */
  private static Set<Value> combined(String operator, Set<Value> left, Set<Value> right) {
    if (left.size() * right.size() > MAX_VALUES) return Set.of(External.UNKNOWN);
    Set<Value> found = new LinkedHashSet<>();
    for (Value a : left) {
      for (Value b : right) {
        Object result = null;
        if (a.constant() instanceof Long x && b.constant() instanceof Long y) {
          result = number(operator, x, y);
        } else if (a.constant() instanceof String x && b.constant() instanceof String y) {
          if (operator.equals("+") && x.length() + y.length() <= MAX_TEXT) result = x + y;
        }
        found.add(result == null ? External.UNKNOWN : new Constant(result));
      }
    }
    return found;
  }

  private static @Nullable Long number(String operator, long a, long b) {
    try {
      return switch (operator) {
        case "+" -> Math.addExact(a, b);
        case "-" -> Math.subtractExact(a, b);
        case "*" -> Math.multiplyExact(a, b);
        case "//" -> Math.floorDiv(a, b);
        case "<<" -> b >= 0 && b < 62 ? Math.multiplyExact(a, 1L << b) : null;
        case "**" -> b >= 0 && b < 64 ? Math.powExact(a, (int) b) : null;
        default -> null;
      };
    } catch (ArithmeticException _) {
      return null;
    }
  }

  // Containers

  /** The container that a node makes, the same one in every pass. */
  Container container(Node node) {
    return containers.computeIfAbsent(node, Container::new);
  }

  /** Sets an element by its index or key. */
  void put(Container container, Value key, Set<Value> value) {
    Object constant = key.constant();
    if (constant != null && !container.open) container.entries.put(constant, value);
    add(value, container.content);
  }

  /** Adds elements at unknown positions. */
  private void extend(Container container, Set<Value> more) {
    container.open = true;
    container.entries.clear();
    add(more, container.content);
  }

  private Container display(Node node) {
    Container container = container(node);
    long at = 0;
    for (Node each : node.children()) {
      if (each.is("[", "]", "(", ")", "{", "}", ",")) continue;
      if (each.is("list_splat")) {
        extend(container, elements(valuesOf(each.children().getLast())));
      } else {
        put(container, new Constant(at++), valuesOf(each));
      }
    }
    return container;
  }

  /** Any element of any of these values. */
  private Set<Value> elements(Set<Value> owners) {
    Set<Value> found = new LinkedHashSet<>();
    for (Value owner : owners) {
      if (owner instanceof Container container) found.addAll(container.content);
      else found.add(owner instanceof External external ? external.element() : External.UNKNOWN);
    }
    return found;
  }

  /** The element at an index or a constant key of any of these values. */
  private Set<Value> item(Set<Value> owners, Object key) {
    Set<Value> found = new LinkedHashSet<>();
    for (Value owner : owners) {
      Map<Object, Set<Value>> entries = owner instanceof Container of ? of.entries : Map.of();
      Object at = key instanceof Long index && index < 0 ? (Object) (entries.size() + index) : key;
      Set<Value> known = entries.get(at);
      found.addAll(known == null ? elements(Set.of(owner)) : known);
    }
    return found;
  }

  /** What an element of one value may be, by the possible keys. */
  Set<Value> element(Value owner, Set<Value> keys) {
    Set<Value> found = new LinkedHashSet<>();
    for (Value key : keys) {
      Object known = key.constant();
      switch (owner) {
        case Definition(Scope scope, _) ->
            found.add(scope.kind() == Kind.CLASS ? owner : new Launcher(scope));
        case External external when external.equals(Library.OWN_MODULE) ->
            found.addAll(own(known instanceof String name ? name : ANY));
        case External external -> found.add(Library.element(external, key));
        default ->
            found.addAll(known == null ? elements(Set.of(owner)) : item(Set.of(owner), known));
      }
    }
    return found;
  }

  // Attributes

  /** An attribute of one value. */
  Set<Value> attribute(Value owner, String name) {
    Set<Value> found = new LinkedHashSet<>();
    switch (owner) {
      case External external -> {
        if (external.equals(Library.OWN_MODULE)) found.addAll(own(name));
        if (found.isEmpty()) found.add(external.attribute(name));
      }
      case Instance(Scope type) -> ofClass(type, owner, name, found);
      case Definition(Scope scope, _) when scope.kind() == Kind.CLASS ->
          ofClass(scope, owner, name, found);
      case Definition(Scope scope, _) -> {
        if (name.equals("run") || name.equals("warmup")) return Set.of(new Launcher(scope));
        if (name.equals("fn")) return Set.of(owner);
        found.addAll(scope.attributes.getOrDefault(name, Set.of()));
        if (!scopes.attributes().contains(name)) found.add(new External("?." + name));
      }
      case Launcher _ -> found.add(new External("?." + name));
      case Container container -> {
        if (CHANGES.contains(name)) extend(container, Set.of(External.UNKNOWN));
        found.add(External.UNKNOWN);
      }
      case Constant _ -> found.add(External.UNKNOWN);
    }
    return found;
  }

  private void ofClass(Scope type, Value owner, String name, Set<Value> found) {
    boolean instance = owner instanceof Instance;
    boolean stored = scopes.attributes().contains(name);
    for (Value base : ancestors(type)) {
      if (found.size() > MAX_VALUES) return;
      if (base instanceof External external && !external.unknown() && !stored) {
        found.add((instance ? external.called() : external).attribute(name));
      }
      if (!(base instanceof Definition(Scope scope, _))) continue;
      found.addAll(scope.attributes.getOrDefault(name, Set.of()));
      if (name.equals(ANY)) scope.variables.values().forEach(found::addAll);
      for (Value each : scope.variables.getOrDefault(name, Set.of())) {
        boolean bound = instance && each instanceof Definition(Scope of, _) && isMethod(of);
        found.add(bound ? new Definition(((Definition) each).scope(), owner) : each);
      }
    }
    if (!stored) found.add(new External("?." + name));
  }

  /** A class and what it inherits from, nearest first. */
  Set<Value> ancestors(Scope type) {
    Set<Value> known = ancestors.get(type);
    if (known != null) return known;
    Set<Value> found = new LinkedHashSet<>();
    Deque<Value> open = new ArrayDeque<>(List.of(new Definition(type, null)));
    while (!open.isEmpty() && found.size() < MAX_BASES) {
      Value each = open.pop();
      boolean own = each instanceof Definition(Scope scope, _) && scope.kind() == Kind.CLASS;
      if (found.add(each) && own) open.addAll(((Definition) each).scope().result);
    }
    ancestors.put(type, found);
    return found;
  }

  // Calls

  private Arguments arguments(@Nullable Node list) {
    List<Set<Value>> positional = new ArrayList<>();
    Map<String, Set<Value>> named = new LinkedHashMap<>();
    boolean starred = false;
    List<Node> given = list == null ? List.of() : List.of(list);
    for (Node each : list != null && list.is("argument_list") ? list.children() : given) {
      if (each.is("(", ")", ",", "dictionary_splat")) continue;
      starred |= each.is("list_splat");
      if (each.is("keyword_argument")) named.put(text(each.child("name")), given(each, "value"));
      else if (!starred) positional.add(valuesOf(each));
    }
    return new Arguments(positional, named);
  }

  /** What a call of one value returns. */
  private Set<Value> call(Value target, Arguments arguments, Node node) {
    switch (target) {
      case External external -> {
        return library.call(external, arguments, node);
      }
      case Definition(Scope type, _) when type.kind() == Kind.CLASS -> {
        Instance made = new Instance(type);
        passTo(made, "__init__", arguments);
        return Set.of(made);
      }
      case Definition(Scope function, Value receiver) -> {
        pass(function, receiver, arguments);
        return function.result;
      }
      case Launcher(Scope kernel) -> pass(kernel, null, arguments);
      case Instance instance -> {
        passTo(instance, "__call__", arguments);
        passTo(instance, "forward", arguments);
      }
      case Constant _, Container _ -> {}
    }
    return Set.of(External.UNKNOWN);
  }

  private void passTo(Instance instance, String method, Arguments arguments) {
    for (Value each : attribute(instance, method)) {
      if (each instanceof Definition(Scope function, Value self)) pass(function, self, arguments);
    }
  }

  /** Passes arguments to the parameters of a function, but for those behind stars. */
  private void pass(Scope function, @Nullable Value receiver, Arguments arguments) {
    int at = 0;
    for (Parameter parameter : function.parameters) {
      if (parameter.stars() > 0) break;
      Set<Value> given =
          receiver != null && parameter.equals(function.parameters.getFirst())
              ? Set.of(receiver)
              : arguments.get(at++, parameter.name());
      if (given != null) add(given, variable(parameter.name(), function));
    }
  }
}

package dev.kbx.program;

import dev.kbx.syntax.Node;
import dev.kbx.syntax.Place;
import dev.kbx.syntax.PythonSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A Python program whose names have been resolved by static data-flow analysis.
 *
 * <p>A <em>path</em> names a value:
 *
 * <ul>
 *   <li>{@code torch.nn.functional.gelu}: a value of another module, under any alias
 *   <li>{@code builtins.exec}: a builtin
 *   <li>{@code torch.cuda.Event()}: the result of a call; {@code os.environ[]}: an element
 *   <li>{@code ?}: an unknown value; {@code ?.matmul}: an attribute of one; {@code torch.?}: an
 *       attribute of torch whose name is unknown
 *   <li>{@code @helper}, {@code @Class.method}, {@code @Class()}: the file's own function, method,
 *       instance; {@code @kernel[]}: a kernel with its grid
 * </ul>
 *
 * <p>The analysis ignores order and conditions: a name stands for everything it is ever bound to.
 * Text that is given to {@code exec} or {@code eval} is not parsed. Source with syntax errors is
 * read as far as it goes. Work is bounded, whatever the source. Immutable; any thread may use it.
 */
public final class Program {
  private final PythonSource source;
  private final Scope module;
  private final ScopeBuilder scopes;
  private final Resolver resolver;

  /** Functions and classes of the file that each scope refers to, and so may run. */
  private final Map<Scope, Set<Scope>> references = new HashMap<>();

  private final List<Call> calls;
  private final List<Access> accesses;
  private final List<Kernel> kernels;
  private final List<Launch> launches;

  private Program(PythonSource source) {
    this.source = source;
    Node root =
        source.tree().orElseGet(() -> new Node("module", null, 0, 0, 1, false, new ArrayList<>()));
    module = new Scope(Scope.Kind.MODULE, "", root, null);
    scopes = new ScopeBuilder(source, module);
    resolver = new Resolver(source, scopes, module);
    refer();
    Uses uses = new Uses(source, scopes, resolver);
    calls = uses.calls();
    accesses = uses.accesses();
    Kernels collector = new Kernels(source, scopes, resolver);
    kernels = collector.kernels(calls);
    launches = collector.launches(calls, kernels);
  }

  private void refer() {
    for (Node node : scopes.nodes()) {
      Set<Scope> owned = Value.owned(resolver.usedValuesOf(node));
      if (!owned.isEmpty()) references(scopes.scopeOf(node)).addAll(owned);
    }
    for (Scope each : scopes.scopes()) {
      Scope type = each.parent().orElse(null);
      if (type == null || type.kind() != Scope.Kind.CLASS) continue;
      // A base class of another module may call any method, Python itself the special ones.
      boolean special = each.name().startsWith("__") && each.name().endsWith("__");
      if (special || resolver.attributes().isForeign(type)) references(type).add(each);
    }
  }

  private Set<Scope> references(Scope scope) {
    return references.computeIfAbsent(scope, _ -> new LinkedHashSet<>());
  }

  public static Program of(PythonSource source) {
    return new Program(source);
  }

  /** Parses and analyses source. */
  public static Program of(String code) {
    return of(PythonSource.parse(code));
  }

  /** The parsed source. */
  public PythonSource source() {
    return source;
  }

  /** Every call and every applied decorator, in source order. */
  public List<Call> calls() {
    return calls;
  }

  /** Every read, binding and deletion of other modules' values, in source order. */
  public List<Access> accesses() {
    return accesses;
  }

  /** Triton kernels, in source order. */
  public List<Kernel> kernels() {
    return kernels;
  }

  /** Launches of kernels, in source order. */
  public List<Launch> launches() {
    return launches;
  }

  /** All scopes, the module first. */
  public List<Scope> scopes() {
    return scopes.scopes();
  }

  /** The file's top level. */
  public Scope module() {
    return module;
  }

  /** Paths of what an expression may stand for; none for a constant. */
  public Set<String> paths(Node expression) {
    return Value.paths(resolver.valuesOf(expression));
  }

  /** Paths of what a top-level name may stand for; none if nothing binds it. */
  public Set<String> paths(String name) {
    return Value.paths(valuesOf(name));
  }

  private Set<Value> valuesOf(String name) {
    Resolver.Slot slot = module.variables.get(name);
    return slot == null ? Set.of() : slot.values;
  }

  /**
   * The constant that an expression always evaluates to: a String, Long, Double or Boolean, or a
   * List of those; bytes as a String, one character a byte. Empty where other values are possible.
   */
  public Optional<Object> constant(Node expression) {
    return resolver.constant(resolver.valuesOf(expression));
  }

  /** The constants among the possible values of an expression; others may be possible. */
  public Set<Object> constants(Node expression) {
    return resolver.constants(resolver.valuesOf(expression));
  }

  /** The parent node; empty for the module and for nodes of other programs. */
  public Optional<Node> parent(Node node) {
    return Optional.ofNullable(scopes.parent(node));
  }

  /** The scope of a node; the module for nodes of other programs. */
  public Scope scopeOf(Node node) {
    return scopes.scopeOf(node);
  }

  /** A node as written. */
  public String text(Node node) {
    return source.text(node);
  }

  /** Where a node lies. */
  public Place place(Node node) {
    return source.place(node);
  }

  /** Whether an ancestor of this node, within its scope, has one of these kinds. */
  public boolean inside(Node node, String... kinds) {
    Scope scope = scopeOf(node);
    @Nullable Node at = scopes.parent(node);
    while (at != null && !at.equals(scope.node())) {
      if (at.is(kinds)) return true;
      at = scopes.parent(at);
    }
    return false;
  }

  /**
   * Scopes whose code may run when these top-level names are called, their own included. A function
   * that running code refers to may run.
   */
  public Set<Scope> reachable(String... entries) {
    Set<Scope> found = new LinkedHashSet<>();
    Deque<Scope> open = new ArrayDeque<>();
    for (String entry : entries) open.addAll(Value.owned(valuesOf(entry)));
    while (!open.isEmpty()) {
      Scope scope = open.pop();
      if (found.add(scope)) open.addAll(references.getOrDefault(scope, Set.of()));
    }
    return found;
  }

  /** The parser found no error; otherwise all results may be incomplete. */
  public boolean parsed() {
    return source.understood();
  }

  /**
   * The analysis covers everything that the program does: all of it parsed, no star import, no
   * {@code exec} or {@code eval} of anything but arithmetic.
   */
  public boolean readable() {
    return resolver.readable();
  }
}

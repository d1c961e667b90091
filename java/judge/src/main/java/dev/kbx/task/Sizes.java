package dev.kbx.task;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.Node;
import dev.kbx.syntax.PythonSource;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sizes at which a task is measured, as far as they can be read from its file without running
 * it.
 *
 * @param stated as in the file: {@code batch=4096, features=393216}; one for each size of a
 *     function, with its weight if it has one, a single one for a module; empty if the file has
 *     none
 * @param constructor arguments of a module's constructor in Python syntax, {@code bias_shape} →
 *     {@code (128, 1, 1)}; null if unknown without running it
 * @param inputs arguments of {@code forward} likewise, {@code x} → {@code float32 (4096, 393216)}
 */
public record Sizes(
    List<String> stated,
    @Nullable Map<String, String> constructor,
    @Nullable Map<String, String> inputs) {
  static final Sizes NONE = new Sizes(List.of(), null, null);

  public Sizes {
    stated = List.copyOf(stated);
  }

  /** Those of the task; reads its file, and the original's of an imported module, where needed. */
  public static Sizes of(Task task) {
    Sizes known = task.sizes();
    if (known != null) return known;
    try {
      PythonSource own = PythonSource.parse(ByteOrderMark.read(task.file()));
      return task.isModule() && isElsewhere(own) ? ofOriginal(own) : in(own, task);
    } catch (IOException | InvalidPathException | OutOfMemoryError _) {
      return NONE; // The file or its original is missing: the worker reports it.
    }
  }

  /** Those that a task's own file states; null if they are in another one. */
  static @Nullable Sizes stated(PythonSource own, Task task) {
    return task.isModule() && isElsewhere(own) ? null : in(own, task);
  }

  private static Sizes in(PythonSource own, Task task) {
    if (!task.isModule()) return functions(own);
    String dtype = task.dtype() == null ? "float32" : task.dtype();
    return new OfModule(own, dtype).published();
  }

  private static boolean isElsewhere(PythonSource own) {
    return own.names().contains("ORIGINAL");
  }

  private static Sizes ofOriginal(PythonSource own) throws IOException {
    PythonSource.Constant file = own.constants().get("FILE");
    if (file == null) return NONE;
    Path original = Path.of(String.valueOf(file.value()));
    PythonSource source = PythonSource.parse(OriginalText.read(original).text());
    return new OfModule(source, "float32").original();
  }

  /** Whether nothing is known. */
  @JsonIgnore
  public boolean isEmpty() {
    return stated.isEmpty() && constructor == null && inputs == null;
  }

  /** {@code a=64, b=(128, 1, 1)}; empty if unknown or none. */
  public static String joined(@Nullable Map<String, String> arguments, String between) {
    if (arguments == null) return "";
    List<String> all = new ArrayList<>();
    arguments.forEach((name, value) -> all.add(name + between + value));
    return String.join(", ", all);
  }

  private static Sizes functions(PythonSource source) {
    Node sizes = OfModule.assigned(source, "SIZES");
    if (sizes == null) return NONE;
    List<String> stated =
        sizes.children().stream()
            .filter(item -> item.is("call"))
            .map(item -> arguments(source, item))
            .toList();
    return new Sizes(weighted(source, stated), null, null);
  }

  /** The sizes with their weights, where the file has one for each: {@code rows=64 (weight 3)}. */
  private static List<String> weighted(PythonSource source, List<String> stated) {
    Node list = OfModule.assigned(source, "WEIGHTS");
    if (list == null) return stated;
    List<Node> weights =
        list.children().stream().filter(item -> item.is("integer", "float")).toList();
    if (weights.size() != stated.size()) return stated;
    return IntStream.range(0, stated.size())
        .mapToObj(i -> "%s (weight %s)".formatted(stated.get(i), source.text(weights.get(i))))
        .toList();
  }

  /** The text between the parentheses of a call, on one line. */
  static String arguments(PythonSource source, Node call) {
    Node list = call.child("arguments");
    if (list == null) return "";
    return String.join(
        ", ",
        list.children().stream()
            .filter(item -> !item.is("(", ")", ","))
            .map(item -> source.text(item).replaceAll("\\s+", " "))
            .toList());
  }

  /** The sizes of a file with a {@code Model}, of kbx or KernelBench. */
  private static final class OfModule {
    private final PythonSource source;
    private final String floats;

    OfModule(PythonSource source, String floats) {
      this.source = source;
      this.floats = floats;
    }

    /** Sizes of a file of kbx: from {@code PUBLISHED}, {@code init_inputs} and {@code inputs}. */
    Sizes published() {
      Node published = assigned(source, "PUBLISHED");
      Node list = published == null ? null : published.child("arguments");
      if (published == null || list == null) return NONE;
      StaticValues values = values(Map.of());
      source.tree().ifPresent(values::assign);
      Map<String, Object> known = new LinkedHashMap<>();
      for (Node item : list.children()) {
        Node name = item.child("name");
        Node given = item.child("value");
        Object value = given == null ? null : values.value(given);
        if (name != null && value != null) known.put(source.text(name), value);
      }
      return new Sizes(
          List.of(Sizes.arguments(source, published)),
          given("init_inputs", known, "__init__"),
          given("inputs", known, "forward"));
    }

    /**
     * Sizes of a file of KernelBench: from the module's numbers, {@code get_init_inputs} and {@code
     * get_inputs}.
     */
    Sizes original() {
      Optional<Node> module = source.tree();
      if (module.isEmpty()) return NONE;
      StaticValues values = values(Map.of());
      values.assign(module.get());
      List<String> stated = new ArrayList<>();
      Map<String, Object> known = new LinkedHashMap<>();
      for (String name : source.names()) {
        Object value = values.named(name);
        if (value == null) continue;
        known.put(name, value);
        if (!(value instanceof String)) stated.add(name + "=" + shown(value));
      }
      return new Sizes(
          stated.isEmpty() ? List.of() : List.of(String.join(", ", stated)),
          given("get_init_inputs", known, "__init__"),
          given("get_inputs", known, "forward"));
    }

    private StaticValues values(Map<String, Object> known) {
      return new StaticValues(source, floats, known);
    }

    /** The arguments that a function returns for a method of the model, by parameter. */
    private @Nullable Map<String, String> given(
        String function, Map<String, Object> known, String method) {
      Node body = body(function);
      if (body == null) return null;
      StaticValues values = values(known);
      values.assign(body);
      // Assignments in branches and loops are not followed.
      boolean straight =
          body.children().stream().allMatch(s -> s.is("expression_statement", "return_statement"));
      Node last = body.children().getLast();
      if (!straight || !last.is("return_statement") || last.children().size() < 2) return null;
      Node result = last.children().get(1);
      Node list = result.is("call") ? result.child("arguments") : null;
      StaticValues.Arguments arguments =
          list == null ? positional(values.value(result)) : values.arguments(list);
      return arguments == null ? null : named(arguments, parameters(method));
    }

    private static StaticValues.@Nullable Arguments positional(@Nullable Object value) {
      return value instanceof StaticValues.Sequence(_, List<Object> items)
          ? new StaticValues.Arguments(items, Map.of())
          : null;
    }

    private static @Nullable Map<String, String> named(
        StaticValues.Arguments arguments, List<String> names) {
      if (arguments.positional().size() > names.size()) return null;
      Map<String, String> all = new LinkedHashMap<>();
      for (int i = 0; i < arguments.positional().size(); i++) {
        all.put(names.get(i), shown(arguments.positional().get(i)));
      }
      arguments.named().forEach((name, value) -> all.put(name, shown(value)));
      return all;
    }

    private static String shown(Object value) {
      return switch (value) {
        case StaticValues.Drawn(String dtype, List<Long> shape) -> dtype + " " + tuple(shape);
        case StaticValues.Sequence(boolean tuple, List<Object> items) -> {
          List<String> all = items.stream().map(OfModule::shown).toList();
          yield tuple ? tuple(all) : all.toString();
        }
        case Boolean truth -> truth ? "True" : "False";
        case StaticValues.Written(String text) -> text;
        case String text -> OriginalText.quoted(text);
        default -> value.toString();
      };
    }

    private static String tuple(List<?> items) {
      String all = String.join(", ", items.stream().map(String::valueOf).toList());
      return items.size() == 1 ? "(" + all + ",)" : "(" + all + ")";
    }

    /** Names of a method's parameters without {@code self}. */
    private List<String> parameters(String method) {
      return definitions()
          .filter(node -> node.is("class_definition") && isNamed(node, "Model"))
          .flatMap(type -> type.all().stream())
          .filter(node -> node.is("function_definition") && isNamed(node, method))
          .findFirst()
          .map(node -> node.child("parameters"))
          .map(list -> list.children().stream().flatMap(this::name).skip(1).toList())
          .orElse(List.of());
    }

    private Stream<String> name(Node parameter) {
      if (parameter.is("identifier")) return Stream.of(source.text(parameter));
      Node name = parameter.child("name");
      if (parameter.is("typed_parameter")) name = parameter.children().getFirst();
      return name == null || !name.is("identifier") ? Stream.of() : Stream.of(source.text(name));
    }

    private @Nullable Node body(String function) {
      return definitions()
          .filter(node -> node.is("function_definition") && isNamed(node, function))
          .reduce((_, last) -> last)
          .map(node -> node.child("body"))
          .orElse(null);
    }

    private boolean isNamed(Node definition, String wanted) {
      Node name = definition.child("name");
      return name != null && source.text(name).equals(wanted);
    }

    private Stream<Node> definitions() {
      return source.tree().stream().flatMap(module -> module.children().stream());
    }

    /** The last value assigned to a name of the module. */
    static @Nullable Node assigned(PythonSource source, String name) {
      Node found = null;
      for (Node statement : source.tree().map(Node::children).orElse(List.of())) {
        if (!statement.is("expression_statement") || statement.children().isEmpty()) continue;
        Node assignment = statement.children().getFirst();
        Node left = assignment.child("left");
        if (!assignment.is("assignment") || left == null) continue;
        if (source.text(left).equals(name)) found = assignment.child("right");
      }
      return found;
    }
  }
}

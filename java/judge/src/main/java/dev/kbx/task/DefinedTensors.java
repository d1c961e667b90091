package dev.kbx.task;

import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.PythonSource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The axes, inputs and outputs of a definition, as its task file has them.
 *
 * @param axes empty for a variable axis, else its size or an expression of other axes, by name
 * @param inputs in the order of the parameters
 * @param outputs in the order of the results
 */
public record DefinedTensors(
    Map<String, String> axes, Map<String, Spec> inputs, Map<String, Spec> outputs) {
  private static final Pattern WORD = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  /**
   * One of them.
   *
   * @param shape names or sizes of axes; null for a scalar
   */
  public record Spec(String dtype, @Nullable List<String> shape) {
    public Spec {
      shape = shape == null ? null : List.copyOf(shape);
    }

    private static Spec of(String text) {
      int bracket = text.indexOf('[');
      if (bracket < 0) return new Spec(text, null);
      String axes = text.substring(bracket + 1, text.length() - 1);
      return new Spec(
          text.substring(0, bracket), axes.isEmpty() ? List.of() : List.of(axes.split(", ")));
    }
  }

  /**
   * Reads them from a task's file.
   *
   * @throws IOException if the file cannot be read, or is not of a definition
   */
  public static DefinedTensors of(Task task) throws IOException {
    PythonSource source = PythonSource.parse(ByteOrderMark.read(task.file()));
    Map<String, String> axes = new LinkedHashMap<>();
    for (String each : strings(source, "AXES")) {
      String[] parts = each.split(" = ", 2);
      axes.put(parts[0], parts.length < 2 ? "" : parts[1]);
    }
    return new DefinedTensors(axes, specs(source, "INPUTS"), specs(source, "OUTPUTS"));
  }

  private static Map<String, Spec> specs(PythonSource source, String name) throws IOException {
    Map<String, Spec> found = new LinkedHashMap<>();
    for (String each : strings(source, name)) {
      String[] parts = each.split(": ", 2);
      found.put(parts[0], Spec.of(parts[parts.length - 1]));
    }
    return found;
  }

  private static List<String> strings(PythonSource source, String name) throws IOException {
    PythonSource.Constant constant = source.constants().get(name);
    if (constant == null || !(constant.value() instanceof List<?> list)) {
      throw new IOException("the task file has no " + name);
    }
    return list.stream().map(Object::toString).toList();
  }

  /** The names of the inputs, as a candidate's parameters. */
  public String parameters() {
    return String.join(", ", inputs.keySet());
  }

  /**
   * Python statements that allocate the outputs from the inputs, one a line.
   *
   * @throws IllegalArgumentException if an output is a number, or its size does not follow from the
   *     inputs' shapes
   */
  public List<String> allocations() {
    String device =
        inputs.entrySet().stream()
            .filter(input -> input.getValue().shape() != null)
            .map(input -> input.getKey() + ".device")
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no input is a tensor"));
    List<String> lines = new ArrayList<>();
    for (Map.Entry<String, Spec> output : outputs.entrySet()) {
      List<String> shape = output.getValue().shape();
      if (shape == null) {
        throw new IllegalArgumentException(
            "the output '%s' is a number, which cannot be written to".formatted(output.getKey()));
      }
      String sizes = shape.stream().map(axis -> size(axis) + ", ").collect(Collectors.joining());
      lines.add(
          "%s = torch.empty((%s), dtype=torch.%s, device=%s)"
              .formatted(output.getKey(), sizes, output.getValue().dtype(), device));
    }
    return lines;
  }

  /** A Python expression of the inputs for the size of an axis. */
  private String size(String axis) {
    if (!axes.containsKey(axis)) return axis; // A number.
    String said = axes.get(axis);
    if (!said.isEmpty()) {
      if (said.chars().allMatch(Character::isDigit)) return said;
      return "int(" + WORD.matcher(said).replaceAll(found -> size(found.group())) + ")";
    }
    return place(axis)
        .orElseThrow(() ->
            new IllegalArgumentException(
                "no input's shape tells the axis '%s' of an output".formatted(axis)));
  }

  private Optional<String> place(String axis) {
    for (Map.Entry<String, Spec> input : inputs.entrySet()) {
      List<String> shape = input.getValue().shape();
      int at = shape == null ? -1 : shape.indexOf(axis);
      if (at >= 0) return Optional.of("%s.shape[%d]".formatted(input.getKey(), at));
    }
    return Optional.empty();
  }
}

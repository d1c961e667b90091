package dev.kbx.task;

import dev.kbx.syntax.PythonSource;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Definitions.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Converts one definition and its workloads to a task file, which holds the code of the reference
 * and stands alone.
 */
final class DefinitionTask {
  /** What every definition calls its reference. */
  private static final String ENTRY = "run";

  /** The dtypes of both formats, without those of 4 bits. */
  private static final Set<String> DTYPES =
      Set.of(
          "float64",
          "float32",
          "float16",
          "bfloat16",
          "float8_e4m3fn",
          "float8_e5m2",
          "int64",
          "int32",
          "int16",
          "int8",
          "uint8",
          "bool");

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.+-]{0,199}");
  private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
  private static final Pattern AXIS = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*|[0-9]+");
  private static final Pattern FUTURE = Pattern.compile("(?m)^from __future__ import .*\\R?");
  private static final int MOST_NAMED = 3;

  private static final List<String> TOLERANCE =
      List.of("max_atol", "max_rtol", "required_matched_ratio", "max_error_cap");

  private final String format;
  private final Path file;
  private final Map<String, List<Workload>> workloads;

  DefinitionTask(String format, Path file, Map<String, List<Workload>> workloads) {
    this.format = format;
    this.file = file;
    this.workloads = workloads;
  }

  /** Why something cannot be imported. */
  private static final class Flaw extends Exception {
    private static final long serialVersionUID = 1;

    Flaw(String message) {
      super(message);
    }
  }

  Checkout.Result write(SyntaxCheck syntax) {
    String name = Checkout.category(file);
    try {
      JsonNode definition = Definitions.read(file);
      if (!definition.isObject()) throw new Flaw("is not a JSON object of at most 4 MiB");
      name = name(definition);
      return written(definition, name, syntax);
    } catch (Flaw flaw) {
      return unusable(name, flaw.getMessage());
    } catch (IOException e) {
      return unusable(name, "cannot be read (" + e.getMessage() + ")");
    }
  }

  private Checkout.Result unusable(String name, @Nullable String message) {
    return new Checkout.Unusable(
        new BrokenTask(format, name, file, null, message == null ? "" : message));
  }

  private static String name(JsonNode definition) throws Flaw {
    String name = definition.path("name").asString("");
    if (NAME.matcher(name).matches()) return name;
    throw new Flaw("its \"name\" is no name of a file: '" + name + "'");
  }

  private String category(JsonNode definition) {
    String type = definition.path("op_type").asString("");
    return NAME.matcher(type).matches() ? type : format;
  }

  private Checkout.Result written(JsonNode definition, String name, SyntaxCheck syntax)
      throws Flaw {
    String reference = reference(definition, syntax);
    List<String> axes = axes(definition);
    List<String> inputs = tensors(definition, "inputs");
    List<String> outputs = tensors(definition, "outputs");
    Map<String, String> leftOut = new LinkedHashMap<>();
    List<String> usable = usable(definition, name, leftOut);
    Matcher future = FUTURE.matcher(reference);
    String imports =
        future.results().map(found -> found.group().strip() + "\n").reduce("", String::concat);
    String head =
        """
        \"""%s
        \"""

        %sfrom kbx.suite.definitions import Workload, defined

        ENTRY = "%s"
        DTYPE = "%s"
        TAGS = ("%s", "%s")
        AXES = [%s]
        INPUTS = [%s]
        OUTPUTS = [%s]
        DEFINITION = defined(
            AXES,
            INPUTS,
            OUTPUTS,
            [
        %s    ],
        %s)


        """
            .formatted(
                OriginalText.escaped(statement(definition, axes, inputs, outputs)),
                imports,
                ENTRY,
                dtype(definition),
                Task.OWN,
                Task.DEFINITION,
                quoted(axes),
                quoted(inputs),
                quoted(outputs),
                usable.stream()
                    .map(each -> "        " + each + ",\n")
                    .collect(Collectors.joining()),
                more(definition));
    String text = head + future.replaceAll("\n").stripTrailing() + "\n";
    int before = (int) head.chars().filter(c -> c == '\n').count();
    return new Checkout.Written(
        file, category(definition), name, text, said(usable, leftOut), before);
  }

  private static @Nullable String said(List<String> usable, Map<String, String> leftOut) {
    if (leftOut.isEmpty()) return null;
    String named =
        leftOut.entrySet().stream()
            .limit(MOST_NAMED)
            .map(each -> each.getKey() + " " + each.getValue())
            .collect(Collectors.joining("; "));
    int all = usable.size() + leftOut.size();
    String more = leftOut.size() > MOST_NAMED ? "; and others" : "";
    return "%d of %d workloads left out: %s%s".formatted(leftOut.size(), all, named, more);
  }

  private static String reference(JsonNode definition, SyntaxCheck syntax) throws Flaw {
    String text = definition.path("reference").asString("");
    PythonSource source = PythonSource.parse(text);
    Optional<PythonSource.SyntaxError> error = syntax.confirmed(source);
    if (error.isPresent()) {
      throw new Flaw(
          "line %s of its \"reference\": %s: %s"
              .formatted(error.get().line(), error.get().message(), error.get().text()));
    }
    if (source.functions().stream().noneMatch(each -> each.name().equals(ENTRY))) {
      throw new Flaw("its \"reference\" defines no function run()");
    }
    return text;
  }

  /** As {@code kbx.suite.definitions.defined} reads them: {@code half = width // 2}. */
  private static List<String> axes(JsonNode definition) throws Flaw {
    List<String> found = new ArrayList<>();
    for (Map.Entry<String, JsonNode> each : definition.path("axes").properties()) {
      String name = each.getKey();
      JsonNode axis = each.getValue();
      if (!IDENTIFIER.matcher(name).matches()) throw new Flaw("the axis '" + name + "' is no name");
      found.add(
          switch (axis.path("type").asString("")) {
            case "var" -> name;
            case "const" -> name + " = " + axis.path("value").asInt(-1);
            case "expr" -> name + " = " + axis.path("expression").asString("");
            default -> throw new Flaw("the axis '" + name + "' is neither const, var nor expr");
          });
    }
    return found;
  }

  /** As {@code kbx.suite.definitions.defined} reads them: {@code x: float16[rows, width]}. */
  private static List<String> tensors(JsonNode definition, String member) throws Flaw {
    List<String> found = new ArrayList<>();
    for (Map.Entry<String, JsonNode> each : definition.path(member).properties()) {
      String name = each.getKey();
      String what = member.substring(0, member.length() - 1) + " '" + name + "'";
      if (!IDENTIFIER.matcher(name).matches()) throw new Flaw("the " + what + " is no name");
      String dtype = each.getValue().path("dtype").asString("");
      if (!DTYPES.contains(dtype)) {
        throw new Flaw(
            "the %s is %s, which kbx neither sends to a candidate nor compares"
                .formatted(what, dtype));
      }
      found.add(name + ": " + dtype + shape(each.getValue().path("shape"), what));
    }
    if (found.isEmpty()) throw new Flaw("has no \"" + member + "\"");
    return found;
  }

  /** Empty for a scalar. */
  private static String shape(JsonNode shape, String what) throws Flaw {
    if (shape.isNull() || shape.isMissingNode()) return "";
    List<String> sizes = shape.valueStream().map(JsonNode::asString).toList();
    if (!shape.isArray() || !sizes.stream().allMatch(size -> AXIS.matcher(size).matches())) {
      throw new Flaw("the shape of the " + what + " is no list of axes");
    }
    return sizes.stream().collect(Collectors.joining(", ", "[", "]"));
  }

  /** Workloads as the task file has them; those that cannot be imported are noted by their ids. */
  private List<String> usable(JsonNode definition, String name, Map<String, String> leftOut)
      throws Flaw {
    List<Workload> all = workloads.getOrDefault(name, List.of());
    Map<String, String> usable = new LinkedHashMap<>();
    for (Workload each : all) {
      JsonNode content =
          each.content().has("workload") ? each.content().get("workload") : each.content();
      String uuid = content.path("uuid").asString(each.file().getFileName() + ":" + each.line());
      try {
        usable.putIfAbsent(uuid, workload(definition, uuid, content, each.file()));
      } catch (Flaw flaw) {
        leftOut.put(uuid, flaw.getMessage() == null ? "" : flaw.getMessage());
      }
    }
    if (all.isEmpty()) throw new Flaw("no workload in a .jsonl file here is of " + name);
    if (usable.isEmpty()) throw new Flaw(said(List.of(), leftOut) + "");
    return List.copyOf(usable.values());
  }

  private static String workload(JsonNode definition, String uuid, JsonNode content, Path from)
      throws Flaw {
    if (!content.path("axes").isObject() || !content.path("inputs").isObject()) {
      throw new Flaw("has no \"axes\" and \"inputs\"");
    }
    List<String> axes = new ArrayList<>();
    for (Map.Entry<String, JsonNode> axis : content.path("axes").properties()) {
      if (!axis.getValue().isIntegralNumber()) throw new Flaw("has an axis without a size");
      axes.add(OriginalText.quoted(axis.getKey()) + ": " + axis.getValue().asLong());
    }
    boolean custom = isCustom(definition);
    List<String> scalars = new ArrayList<>();
    List<String> files = new ArrayList<>();
    for (String name : definition.path("inputs").propertyNames()) {
      JsonNode input = content.path("inputs").path(name);
      switch (input.path("type").asString("")) {
        case "scalar" ->
            scalars.add(OriginalText.quoted(name) + ": " + literal(name, input.path("value")));
        case "random" -> {}
        case "safetensors" ->
            files.add(OriginalText.quoted(name) + ": " + recorded(name, input, from));
        case "custom" -> {
          if (!custom)
            throw new Flaw("has custom inputs, for which its definition has no function");
        }
        case "" -> {
          if (!custom) throw new Flaw("says nothing of the input '" + name + "'");
        }
        default ->
            throw new Flaw(
                "reads the input '%s' from a file (%s), which is not imported"
                    .formatted(name, input.path("type").asString("")));
      }
    }
    List<String> tolerance = tolerance(content);
    return "Workload(%s, {%s}%s%s%s)"
        .formatted(
            OriginalText.quoted(uuid),
            String.join(", ", axes),
            scalars.isEmpty() ? "" : ", {" + String.join(", ", scalars) + "}",
            files.isEmpty() ? "" : ", files={" + String.join(", ", files) + "}",
            tolerance.isEmpty() ? "" : ", tolerance={" + String.join(", ", tolerance) + "}");
  }

  /** What the benchmark's own test allows of this workload's results. */
  private static List<String> tolerance(JsonNode workload) {
    JsonNode stated = workload.path(workload.has("tolerance") ? "tolerance" : "correctness");
    return TOLERANCE.stream()
        .filter(name -> stated.path(name).isNumber())
        .map(name ->
            OriginalText.quoted(name) + ": " + Double.toString(stated.path(name).asDouble()))
        .toList();
  }

  /** Where a recorded input lies, and its key there; paths are relative to a folder above. */
  private static String recorded(String name, JsonNode input, Path from) throws Flaw {
    String path = input.path("path").asString("");
    Path folder = from.toAbsolutePath().getParent();
    while (folder != null && !Files.isRegularFile(folder.resolve(path))) {
      folder = folder.getParent();
    }
    if (folder == null || path.isEmpty()) {
      throw new Flaw("reads the input '%s' from %s, which is not there".formatted(name, path));
    }
    String key = input.path("tensor_key").asString(name);
    return "(%s, %s)"
        .formatted(
            OriginalText.quoted(folder.resolve(path).normalize().toString()),
            OriginalText.quoted(key));
  }

  private static String literal(String name, JsonNode value) throws Flaw {
    if (value.isBoolean()) return value.asBoolean() ? "True" : "False";
    if (value.isIntegralNumber()) return value.bigIntegerValue().toString();
    if (value.isNumber()) return Double.toString(value.asDouble());
    throw new Flaw("has a scalar '" + name + "' that is no number");
  }

  private static boolean isCustom(JsonNode definition) {
    return definition.path("custom_inputs_entrypoint").isString();
  }

  /** Arguments that few definitions have. */
  private static String more(JsonNode definition) {
    StringBuilder text = new StringBuilder();
    List<String> constraints =
        definition.path("constraints").valueStream().map(JsonNode::asString).toList();
    if (!constraints.isEmpty()) {
      text.append("    constraints=(").append(quoted(constraints)).append(",),\n");
    }
    if (isCustom(definition)) {
      String entry = definition.path("custom_inputs_entrypoint").asString();
      text.append("    custom=").append(OriginalText.quoted(entry)).append(",\n");
    }
    return text.toString();
  }

  private static String quoted(List<String> texts) {
    return texts.stream().map(OriginalText::quoted).collect(Collectors.joining(", "));
  }

  /** Of the first floating-point input. */
  private static String dtype(JsonNode definition) {
    return definition
        .path("inputs")
        .valueStream()
        .map(input -> input.path("dtype").asString(""))
        .filter(dtype -> dtype.contains("float"))
        .findFirst()
        .orElse("float32");
  }

  /** Whatever the reference returns, which may be a dict. */
  private static String returned(List<String> outputs) {
    if (outputs.size() > 1) return "a tuple in this order";
    return outputs.getFirst().contains("[") ? "a tensor" : "a number";
  }

  private static String statement(
      JsonNode definition, List<String> axes, List<String> inputs, List<String> outputs) {
    String said = definition.path("description").asString("").strip();
    return "%s\n\nAxes: `%s`.\nInputs: `%s`.\nOutputs: `%s`, returned as %s."
        .formatted(
            said.isEmpty() ? "What `run` below computes." : said,
            String.join("`, `", axes),
            String.join("`, `", inputs),
            String.join("`, `", outputs),
            returned(outputs));
  }
}

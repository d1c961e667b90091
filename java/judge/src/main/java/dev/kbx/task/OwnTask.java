package dev.kbx.task;

import dev.kbx.syntax.PythonSource;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A full task file made of a user's own reference: the reference's code, and what a task needs
 * besides, to be edited. Which variations the reference takes is for whoever runs it to find out.
 */
public enum OwnTask {
  /** Other layouts and values. */
  VARIED,
  /** Other layouts, with values as they are drawn. */
  LAID_OUT,
  /** What the reference's file asks for. */
  PLAIN;

  private static final Pattern FUTURE = Pattern.compile("(?m)^from __future__ import .*\\R?");
  private static final String GENERATOR = "generate_input";
  private static final Pattern INPUTS = Pattern.compile("\\binputs\\(\\)|(?<=def )inputs\\b");

  /** A dtype other than float32 that the file names: the task is probably about it. */
  private static final Pattern DTYPE =
      Pattern.compile("\\b(bfloat16|float16|float64)\\b|\\b(bf16|f16|f64)\\[|\\.(half)\\(\\)");

  /**
   * What is known of the calls that a reference asks for.
   *
   * @param numbers of those that are judged; empty for a {@code Model}
   * @param updates arguments that the reference updates in place
   * @param upstream parameters for the gradients of a function's results, where those of its
   *     arguments are the task
   */
  public record Calls(List<Integer> numbers, List<String> updates, List<String> upstream) {
    public Calls {
      numbers = List.copyOf(numbers);
      updates = List.copyOf(updates);
      upstream = List.copyOf(upstream);
    }

    /** Nothing is known of them. */
    public Calls() {
      this(List.of(), List.of(), List.of());
    }
  }

  private List<String> variations() {
    return switch (this) {
      case VARIED -> List.of("non_contiguous", "special_values");
      case LAID_OUT -> List.of("non_contiguous");
      case PLAIN -> List.of();
    };
  }

  private String distributions() {
    return this == VARIED ? "(\"standard\", \"small\", \"large\", \"zeros\")" : "(\"standard\",)";
  }

  /** The text of the file. */
  public String text(OwnReference reference, Calls calls) {
    String code = code(reference.source());
    Matcher future = FUTURE.matcher(code);
    String imports =
        future.results().map(found -> found.group().strip() + "\n").reduce("", String::concat);
    String body = future.replaceAll("").strip();
    return statement(reference)
        + imports
        + (reference.isModule()
            ? module(body, reference, calls.updates)
            : function(body, reference, calls));
  }

  /** What says that gradients are the task. */
  private static String forward(OwnReference reference) {
    return reference.backward()
        ? "FORWARD = %s\n".formatted(OriginalText.quoted(reference.name()))
        : "";
  }

  /** The definition of an entry that is derived of the forward: who reads it does not run it. */
  private static String derived(OwnReference reference, Calls calls) {
    if (!reference.backward()) return "";
    String signature =
        Gradients.signature(
            reference.name(), reference.signature().orElseThrow(), calls.upstream, Set.of());
    return """


    # Only read, never run: FORWARD says that the gradients of %s are the task.
    def %s: ...
    """
        .formatted(reference.name(), signature);
  }

  private static String mutates(List<String> updates) {
    if (updates.isEmpty()) return "";
    return "MUTATES = (%s,)\n"
        .formatted(updates.stream().map(OriginalText::quoted).collect(Collectors.joining(", ")));
  }

  private static String statement(OwnReference reference) {
    String text =
        reference
            .source()
            .docstring()
            .filter(said -> !said.isBlank())
            .map(String::strip)
            .orElse("What `%s` below computes.".formatted(reference.name()));
    if (reference.backward()) {
      String said =
          reference.source().docstring().isPresent()
              ? " `%s` computes:\n\n%s".formatted(reference.name(), text)
              : "";
      String what = "`%s` below".formatted(reference.name());
      text = Gradients.statement(what, reference.isModule(), List.of()) + said;
    }
    return "\"\"\"" + OriginalText.escaped(text) + "\n\"\"\"\n\n";
  }

  /** The module without its docstring. */
  static String code(PythonSource source) {
    if (source.docstring().isEmpty()) return source.text();
    return source.tree().stream()
        .flatMap(module -> module.children().stream())
        .filter(node -> node.is("expression_statement"))
        .findFirst()
        .map(node -> source.text().replaceFirst(Pattern.quote(source.text(node)), ""))
        .orElse(source.text());
  }

  private String module(String body, OwnReference reference, List<String> updates) {
    boolean init =
        reference.source().functions().stream().anyMatch(f -> f.name().equals("get_init_inputs"));
    return """
    from kbx.suite import Close, drawn

    %sDTYPE = "%s"
    TAGS = ("%s",)
    DISTRIBUTIONS = %s
    PUBLISHED = {}
    SCALED = {}
    %sCONTRACT = Close(growth=8)


    %s


    def init_inputs():
        return %s


    def inputs(make):
        return drawn(make, get_inputs)
    """
        .formatted(
            forward(reference),
            dtype(body),
            Task.OWN,
            distributions(),
            mutates(updates),
            body,
            init ? "list(get_init_inputs())" : "[]");
  }

  private String function(String body, OwnReference reference, Calls calls) {
    String drawing = drawing(reference.source());
    List<String> notes =
        drawing == null
            ? new ReferenceName(reference.file(), reference.source()).notes(reference.name())
            : List.of();
    List<Integer> numbers = calls.numbers.isEmpty() ? List.of(0) : calls.numbers;
    String arguments =
        notes.stream()
            .map(note -> "    " + OriginalText.quoted(note) + ",\n")
            .reduce("", String::concat);
    return """
    from kbx.suite import Close, %s

    ENTRY = "%s"
    %sDIFFICULTY = 1
    DTYPE = "%s"
    TAGS = ("%s",)
    %sDISTRIBUTIONS = %s
    CASES = [
    %s]
    SIZES = [
    %s]
    %sCONTRACT = Close(growth=8)
    %s

    %s
    %s

    def inputs(make, number=0, variation=None):
        return %s
    """
        .formatted(
            notes.isEmpty() ? "drawn" : "noted",
            reference.entry(),
            forward(reference),
            dtype(body),
            Task.OWN,
            mutates(calls.updates),
            distributions(),
            cases(numbers),
            plain(numbers),
            weights(reference, drawing, numbers),
            arguments.isEmpty() ? "" : "ARGUMENTS = [\n" + arguments + "]\n",
            body(body, reference, drawing),
            derived(reference, calls),
            drawing == null
                ? "noted(make, ARGUMENTS[number], variation)"
                : "drawn(make, %s, number, variation, of=%s)"
                    .formatted(
                        drawing.equals("get_inputs") ? drawing : "drawn_inputs", reference.name()));
  }

  private static String weights(
      OwnReference reference, @Nullable String drawing, List<Integer> numbers) {
    List<String> all =
        new ReferenceName(reference.file(), reference.source())
            .weights(drawing == null ? reference.name() : drawing);
    if (all.isEmpty()) return "";
    return numbers.stream().map(all::get).collect(Collectors.joining(", ", "WEIGHTS = [", "]\n"));
  }

  /** The function that returns the arguments; null where comments describe them. */
  private static @Nullable String drawing(PythonSource source) {
    return Stream.of("inputs", "get_inputs", GENERATOR)
        .filter(name -> source.functions().stream().anyMatch(f -> f.name().equals(name)))
        .findFirst()
        .orElse(null);
  }

  /** The reference's code, in which {@code inputs} has another name: the task's has this one. */
  private static String body(String body, OwnReference reference, @Nullable String drawing) {
    if (drawing == null) return body;
    if (!drawing.equals(GENERATOR)) return INPUTS.matcher(body).replaceAll("drawn_$0");
    List<String> notes = new ReferenceName(reference.file(), reference.source()).notes(GENERATOR);
    return body
        + "\n\n\ndef drawn_inputs():\n    return [%s]"
            .formatted(
                (notes.isEmpty() ? List.of("") : notes)
                    .stream()
                        .map(note -> "%s(%s)".formatted(GENERATOR, note))
                        .collect(Collectors.joining(", ")));
  }

  private static String plain(List<Integer> numbers) {
    return numbers.stream()
        .map(number -> "    dict(number=%d),\n".formatted(number))
        .collect(Collectors.joining());
  }

  private String cases(List<Integer> numbers) {
    return plain(numbers)
        + variations().stream()
            .map(variation ->
                "    dict(number=%d, variation=\"%s\"),\n".formatted(numbers.getFirst(), variation))
            .collect(Collectors.joining());
  }

  private static String dtype(String body) {
    Matcher named = DTYPE.matcher(body);
    if (!named.find()) return "float32";
    if (named.group(1) != null) return named.group(1);
    if (named.group(3) != null) return "float16";
    return switch (named.group(2)) {
      case "bf16" -> "bfloat16";
      case "f16" -> "float16";
      default -> "float64";
    };
  }
}

package dev.kbx.task;

import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.PythonSource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What calls of the published grade ask for, in words for who writes a kernel. Derived from the
 * task's {@code TESTED}, {@code DTYPE} and {@code TAGS}: a call of that grade has no property
 * beside those of {@code TESTED}.
 */
public final class PublishedCalls {
  private static final String DTYPE = "dtype:";
  private static final String OPTION = "option:";

  /** Tags of tasks whose calls have the property {@code broadcast}. */
  private static final Set<String> BROADCASTING = Set.of("elementwise", "broadcast");

  private final Task task;
  private final List<String> tested;

  private PublishedCalls(Task task, List<String> tested) {
    this.task = task;
    this.tested = tested;
  }

  /** Reads the task's file; empty where it has no {@code TESTED}: then all calls are such calls. */
  public static Optional<PublishedCalls> of(Task task) {
    try {
      PythonSource source = PythonSource.parse(ByteOrderMark.read(task.file()));
      PythonSource.Constant constant = source.constants().get("TESTED");
      if (constant == null || !(constant.value() instanceof List<?> names)) return Optional.empty();
      return Optional.of(new PublishedCalls(task, names.stream().map(String::valueOf).toList()));
    } catch (IOException _) {
      return Optional.empty(); // It has gone since the suite was opened: the worker says so.
    }
  }

  /** A line for each kind of argument, without line breaks. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>(List.of(layout(), dtypes(), shapes()));
    if (broadcasts()) lines.add(broadcast());
    if (hasOptions()) lines.add(options());
    return lines;
  }

  /** Where a statement says nothing of broadcasting, there is nothing to take back. */
  private boolean broadcasts() {
    return !Collections.disjoint(task.tags(), BROADCASTING)
        && task.statement().contains("broadcast");
  }

  private boolean hasOptions() {
    return task.signature().contains("=");
  }

  private String layout() {
    List<String> more = new ArrayList<>();
    if (has("non_contiguous")) more.add("some have gaps or permuted dimensions");
    if (has("expanded")) more.add("some have a stride of 0");
    return more.isEmpty()
        ? "Tensor arguments are contiguous."
        : "Tensor arguments are contiguous, but " + String.join(" and ", more) + ".";
  }

  private String dtypes() {
    List<String> dtypes =
        Stream.concat(Stream.ofNullable(task.dtype()), tested(DTYPE))
            .map(PublishedCalls::code)
            .toList();
    return "Their dtype is "
        + joined(dtypes, "or")
        + ", unless the statement gives an argument another one.";
  }

  private String shapes() {
    List<String> some = new ArrayList<>();
    List<String> none = new ArrayList<>();
    (has("empty") ? some : none).add("empty");
    (has("size_one") ? some : none).add("of one element");
    (has("zero_dim") ? some : none).add("of shape `()`");
    String text = none.isEmpty() ? "" : "No tensor is " + joined(none, "or") + ".";
    return some.isEmpty() ? text : ("Some are " + joined(some, "or") + ". " + text).strip();
  }

  private String broadcast() {
    return has("broadcast")
        ? "Tensors of different shapes are broadcast."
        : "No tensor is broadcast against another.";
  }

  private String options() {
    List<String> options =
        Stream.of(
                tested(OPTION),
                Stream.of("inplace").filter(_ -> has("in_place")),
                Stream.of("out").filter(_ -> has("out_argument")))
            .flatMap(names -> names)
            .map(PublishedCalls::code)
            .toList();
    return options.isEmpty()
        ? "Every argument that has a default is at its default."
        : "Of the arguments with a default, only "
            + joined(options, "and")
            + (options.size() == 1 ? " is" : " are")
            + " given another value.";
  }

  private boolean has(String property) {
    return tested.contains(property);
  }

  private Stream<String> tested(String prefix) {
    return tested.stream()
        .filter(name -> name.startsWith(prefix))
        .map(name -> name.substring(prefix.length()));
  }

  private static String code(String name) {
    return "`" + name + "`";
  }

  private static String joined(List<String> items, String last) {
    if (items.size() < 2) return String.join("", items);
    int end = items.size() - 1;
    return String.join(", ", items.subList(0, end)) + " " + last + " " + items.get(end);
  }
}

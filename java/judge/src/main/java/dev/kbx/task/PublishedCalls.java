package dev.kbx.task;

import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.PythonSource;
import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What calls of the published grade ask for, for the statement of a task. Derived from the task's
 * {@code TESTED}, {@code DTYPE} and {@code TAGS}: a call of that grade has no property beside those
 * of {@code TESTED}.
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

  /** The values of {@code prompts/statement/calls}. */
  public Map<String, Object> values() {
    Map<String, Object> values = new HashMap<>();
    values.put("gaps", has("non_contiguous"));
    values.put("expanded", has("expanded"));
    values.put("strided", has("non_contiguous") || has("expanded"));
    values.put("dtypes", dtypes());
    values.put("empty", has("empty"));
    values.put("one", has("size_one"));
    values.put("scalar", has("zero_dim"));
    values.put("broadcasts", broadcasts());
    values.put("broadcast", has("broadcast"));
    values.put("defaults", task.signature().contains("="));
    values.put("options", options());
    return values;
  }

  /** Where a statement says nothing of broadcasting, there is nothing to take back. */
  private boolean broadcasts() {
    return !Collections.disjoint(task.tags(), BROADCASTING)
        && task.statement().contains("broadcast");
  }

  /** The task's dtype and those that are tested beside it: {@code `float32` or `float16`}. */
  private String dtypes() {
    List<String> dtypes =
        Stream.concat(Stream.ofNullable(task.dtype()), tested(DTYPE))
            .map(PublishedCalls::code)
            .toList();
    int last = dtypes.size() - 1;
    return last < 1
        ? String.join("", dtypes)
        : String.join(", ", dtypes.subList(0, last)) + " or " + dtypes.get(last);
  }

  /** Names of the arguments that are given another value than their default; may be empty. */
  private String options() {
    return Stream.of(
            tested(OPTION),
            Stream.of("inplace").filter(_ -> has("in_place")),
            Stream.of("out").filter(_ -> has("out_argument")))
        .flatMap(names -> names)
        .map(PublishedCalls::code)
        .collect(Collectors.joining(", "));
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
}

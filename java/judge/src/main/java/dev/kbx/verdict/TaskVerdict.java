package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The verdict on a task: whether its controls have their required outcomes.
 *
 * @param file the task file
 * @param precision what its module was cast to: {@code fp16}, or {@code fp32}, nothing; null for a
 *     task without one
 * @param problem why the controls could not be run, with file and line; else null
 * @param seconds wall time of all controls
 * @param judgedAs hash of everything that this verdict depends on; absent if nothing was judged
 */
@JsonPropertyOrder({"name", "suite", "category", "ok"})
public record TaskVerdict(
    String name,
    String suite,
    String category,
    String file,
    @Nullable String precision,
    @Nullable String problem,
    List<Control> controls,
    @Nullable Double seconds,
    @Nullable String judgedAs) {

  public TaskVerdict {
    controls = List.copyOf(controls);
  }

  /**
   * One control.
   *
   * @param name {@code reference}, an automatic control such as {@code zeros}, a function of the
   *     task file, or the path of a kernel beside it
   * @param kind required outcome
   * @param ok whether it has that outcome
   * @param status result of the comparison: {@code correct}, {@code wrong_values}, {@code skipped}
   * @param detail in which calls, and the first failure
   * @param line line of its definition in the task file, if any
   */
  public record Control(
      String name,
      Kind kind,
      boolean ok,
      @Nullable String status,
      @Nullable String detail,
      @Nullable Integer line) {}

  /** Required outcome of a control. */
  public enum Kind {
    /** The control must pass every call. */
    POSITIVE,
    /**
     * The control must pass every call, judged as candidates are: a kernel in a process of its own.
     */
    KERNEL,
    /** The control must fail in some call. */
    NEGATIVE;

    /** {@code positive, kernel, negative}. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Whether every control has its required outcome. */
  @JsonProperty(value = "ok", access = JsonProperty.Access.READ_ONLY)
  public boolean ok() {
    return problem == null && controls.stream().allMatch(Control::ok);
  }

  /** {@code Category/name}. */
  @JsonIgnore
  public String path() {
    return category + "/" + name;
  }
}

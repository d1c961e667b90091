package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The verdict on a task: whether its controls do what they must.
 *
 * @param file the task file
 * @param problem why the controls could not be run, with file and line, when they could not
 * @param seconds wall time of all controls
 * @param judgedAs hash of all that this verdict depends on; absent where nothing was judged
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonPropertyOrder({"name", "suite", "category", "ok"})
public record TaskVerdict(
    String name,
    String suite,
    String category,
    String file,
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
   * @param name {@code reference}, an automatic one such as {@code zeros}, a function of the task
   *     file, or the path of a kernel beside it
   * @param kind what must happen to it
   * @param ok whether that happened
   * @param status what the comparison said: {@code correct}, {@code wrong_values}, {@code skipped}
   * @param detail in which calls, and the first complaint
   * @param line of the task file where it is defined, where it is
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Control(
      String name,
      Kind kind,
      boolean ok,
      @Nullable String status,
      @Nullable String detail,
      @Nullable Integer line) {}

  /** What must happen to a control. */
  public enum Kind {
    /** It must pass every call. */
    POSITIVE,
    /** It must pass every call, judged as candidates are: a kernel in a process of its own. */
    KERNEL,
    /** It must fail in some call. */
    NEGATIVE;

    /** {@code positive, kernel, negative}. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Every control did what it must. */
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

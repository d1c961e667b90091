package dev.kbx.task;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A task as {@code kbx tasks} shows it: an object of JSON lists, or text. */
@JsonPropertyOrder({"name", "suite", "category", "signature", "extra"})
public record TaskView(
    String name,
    String suite,
    String category,
    String signature,
    boolean extra,
    String entry,
    @Nullable Integer difficulty,
    @Nullable String dtype,
    List<String> tags,
    List<String> operations,
    @Nullable Sizes sizes,
    String file) {

  public TaskView {
    tags = List.copyOf(tags);
    operations = List.copyOf(operations);
  }

  /** The task's JSON form. */
  public static TaskView of(Task task) {
    Sizes sizes = Sizes.of(task);
    return new TaskView(
        task.name(),
        task.suite(),
        task.category(),
        task.signature(),
        task.extra(),
        task.entry(),
        task.difficulty(),
        task.dtype(),
        task.tags(),
        task.operations(),
        sizes.isEmpty() ? null : sizes,
        task.file().toString());
  }

  /** The task as plain text for the author of a kernel; ends with a line break. */
  public static String text(Task task) {
    StringBuilder text = new StringBuilder();
    text.append(task.signature()).append("\n\n");
    field(text, "task", task.suite() + " " + task.path());
    field(text, "entry", String.join(" or ", task.entries()));
    if (task.dtype() != null) field(text, "dtype", task.dtype());
    if (task.difficulty() != null) field(text, "difficulty", task.difficulty().toString());
    field(text, "tags", String.join(", ", task.tags()));
    field(text, "operations", String.join(", ", task.operations()));
    Sizes sizes = Sizes.of(task);
    field(text, "sizes", String.join("\n" + " ".repeat(12), sizes.stated()));
    field(text, "constructor", Sizes.joined(sizes.constructor(), "="));
    field(text, "inputs", Sizes.joined(sizes.inputs(), ": "));
    if (task.extra()) field(text, "extra", "a dtype variant beside the published set");
    field(text, "file", task.file().toString());
    return text.append('\n').append(task.statement().strip()).append('\n').toString();
  }

  private static void field(StringBuilder text, String name, String value) {
    if (!value.isEmpty()) text.append("%-11s %s\n".formatted(name, value));
  }
}

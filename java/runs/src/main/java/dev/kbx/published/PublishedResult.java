package dev.kbx.published;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One published record.
 *
 * @param category of the task, or level
 * @param task its name
 * @param origin its file, with {@code :line}
 * @param sample number among the kernels for one task by one method, model and round
 * @param code the kernel's source; null if none is published with it
 * @param outcome null if the record states none
 * @param hardware what it was measured on, as stated; null if it is not
 * @param record the record itself without the source
 */
public record PublishedResult(
    String category,
    String task,
    String origin,
    @Nullable String method,
    @Nullable String model,
    @Nullable Integer round,
    int sample,
    @Nullable String code,
    @Nullable PublishedOutcome outcome,
    @Nullable String hardware,
    JsonNode record) {

  /** {@code Category/task}. */
  public String path() {
    return category + "/" + task;
  }
}

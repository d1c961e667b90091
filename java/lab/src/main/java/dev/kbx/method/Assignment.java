package dev.kbx.method;

import dev.kbx.prompt.PromptWriter;
import dev.kbx.task.Task;
import org.jspecify.annotations.Nullable;

/**
 * What one trajectory works at.
 *
 * @param writer makes its prompts
 * @param start a kernel to mend or to make faster; null to start from nothing
 */
public record Assignment(Task task, PromptWriter writer, @Nullable String start) {}

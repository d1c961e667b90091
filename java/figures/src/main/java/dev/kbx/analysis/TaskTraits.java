package dev.kbx.analysis;

import org.jspecify.annotations.Nullable;

/**
 * What a suite says of a task, by which tasks can be grouped in place of the category.
 *
 * @param operation the first of its operation tags
 * @param complexity cyclomatic complexity of the reference
 * @param lines code lines of the reference
 * @param bound what limits it by its tags: {@code memory} or {@code compute}
 */
public record TaskTraits(
    @Nullable Integer difficulty,
    @Nullable String operation,
    @Nullable String bound,
    @Nullable String dtype,
    @Nullable Integer complexity,
    @Nullable Integer lines) {}

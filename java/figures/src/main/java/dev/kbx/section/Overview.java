package dev.kbx.section;

import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.Methods;
import org.jspecify.annotations.Nullable;

/**
 * All analyses of some runs.
 *
 * @param iterations null if no method has two rounds
 */
public record Overview(
    Methods methods, Deviance deviance, @Nullable Iterations iterations, AdvisedErrors errors) {}

package dev.kbx.prompt;

import dev.kbx.verdict.Judgement;
import org.jspecify.annotations.Nullable;

/**
 * An earlier kernel for the same task, and what the referee found on development inputs.
 *
 * @param round from 0
 * @param code empty if the reply held none
 * @param judgement null if the reply held no code
 * @param note what its author or a reflection said of it
 */
public record Attempt(
    int round, String code, @Nullable Judgement judgement, @Nullable String note) {}

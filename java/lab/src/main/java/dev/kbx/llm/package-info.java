/**
 * The language models that methods ask: providers over HTTP, programs and recorded replies behind
 * one interface, with limits, retries, a cache and prices. Start with {@link
 * dev.kbx.llm.ModelCatalog}, which opens a {@link dev.kbx.llm.ChatModel} by its name.
 *
 * <p>Knows nothing of kernels, tasks or prompts. Keys stay in this package: no text that leaves it
 * contains one.
 */
@NullMarked
package dev.kbx.llm;

import org.jspecify.annotations.NullMarked;

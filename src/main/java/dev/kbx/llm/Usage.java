package dev.kbx.llm;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Tokens; null where the provider does not say.
 *
 * @param input all of the prompt, cached tokens included
 * @param output all of the reply, reasoning included
 * @param cachedInput the part of the input that the provider had in its cache
 * @param reasoning the part of the output that is reasoning
 * @param cacheWritten the part of the input that the provider put into its cache
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Usage(
    @Nullable Long input,
    @Nullable Long output,
    @Nullable Long cachedInput,
    @Nullable Long reasoning,
    @Nullable Long cacheWritten) {
  /** Usage of a provider that says nothing of writing to its cache. */
  public Usage(
      @Nullable Long input,
      @Nullable Long output,
      @Nullable Long cachedInput,
      @Nullable Long reasoning) {
    this(input, output, cachedInput, reasoning, null);
  }

  /** The sum of what is known; null if nothing is. */
  static @Nullable Usage sum(@Nullable Usage one, @Nullable Usage other) {
    if (one == null) return other;
    if (other == null) return one;
    return new Usage(
        sum(one.input, other.input),
        sum(one.output, other.output),
        sum(one.cachedInput, other.cachedInput),
        sum(one.reasoning, other.reasoning),
        sum(one.cacheWritten, other.cacheWritten));
  }

  private static @Nullable Long sum(@Nullable Long one, @Nullable Long other) {
    if (one == null) return other;
    return other == null ? one : Long.valueOf(one + other);
  }

  /** Input and output together, as limits of tokens a minute count them. */
  long total() {
    return (input == null ? 0 : input) + (output == null ? 0 : output);
  }
}

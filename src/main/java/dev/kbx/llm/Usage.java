package dev.kbx.llm;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Tokens; null where the provider does not say. What cannot be is taken as not said: negative
 * numbers, those above {@link #MOST}, and parts that are larger than the whole.
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
  /** No requests together take more. */
  static final long MOST = 1_000_000_000_000L;

  public Usage {
    input = possible(input, MOST);
    output = possible(output, MOST);
    cachedInput = possible(cachedInput, input == null ? MOST : input);
    reasoning = possible(reasoning, output == null ? MOST : output);
    long rest = (input == null ? MOST : input) - (cachedInput == null ? 0 : cachedInput);
    cacheWritten = possible(cacheWritten, rest);
  }

  private static @Nullable Long possible(@Nullable Long tokens, long most) {
    return tokens == null || tokens < 0 || tokens > most ? null : tokens;
  }

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

  /** How many of one request's attempts, 0 or 1, this does not tell in full. */
  static int unmetered(@Nullable Usage usage) {
    return usage == null || usage.input == null || usage.output == null ? 1 : 0;
  }

  /** Input and output together, as limits of tokens a minute count them. */
  long total() {
    return (input == null ? 0 : input) + (output == null ? 0 : output);
  }
}

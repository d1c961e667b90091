package dev.kbx.llm;

import org.jspecify.annotations.Nullable;

/**
 * What a request asks for; null means the provider's default.
 *
 * @param temperature 0 or more
 * @param topP above 0, at most 1
 * @param maxTokens limit of the reply, including its reasoning
 * @param reasoningEffort in the provider's words, as {@code low} or {@code high}
 * @param seed for providers that have one
 */
public record Parameters(
    @Nullable Double temperature,
    @Nullable Double topP,
    @Nullable Integer maxTokens,
    @Nullable String reasoningEffort,
    @Nullable Long seed) {
  public Parameters {
    if (temperature != null && !(temperature >= 0 && Double.isFinite(temperature))) {
      throw new IllegalArgumentException("temperature " + temperature + ": 0 or more");
    }
    if (topP != null && !(topP > 0 && topP <= 1)) {
      throw new IllegalArgumentException("top_p " + topP + ": above 0, at most 1");
    }
    if (maxTokens != null && maxTokens < 1) {
      throw new IllegalArgumentException("max_tokens " + maxTokens + ": 1 or more");
    }
  }

  /** All left to the provider. */
  public static Parameters defaults() {
    return new Parameters(null, null, null, null, null);
  }
}

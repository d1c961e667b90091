package dev.kbx.llm;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A model that can be named, as people see it.
 *
 * @param name what {@code --model} says; {@code openai:MODEL} stands for all of a provider's
 * @param address of the provider
 * @param model as the provider calls it; null: what follows the colon
 * @param parallel requests in flight, of all models with this address and key
 * @param requestsPerMinute of all models with this address and key; null: not limited by kbx
 * @param tokensPerMinute the same, input and output
 * @param maxTokens of a reply where a method asks for no limit; null: the provider's
 * @param timeoutSeconds how long nothing may arrive
 * @param without parameters that are not sent
 * @param price null: unknown
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Configured(
    String name,
    String provider,
    String address,
    @Nullable String model,
    Key key,
    int parallel,
    @Nullable Integer requestsPerMinute,
    @Nullable Integer tokensPerMinute,
    @Nullable Integer maxTokens,
    double timeoutSeconds,
    boolean stream,
    List<String> without,
    @Nullable Price price) {

  /**
   * Where the key is, never what it is.
   *
   * @param from the variable or the file; null: no key is needed
   * @param problem null: the key can be used, or none is needed
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Key(@Nullable String from, boolean present, @Nullable String problem) {}
}

package dev.kbx.llm;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * USD for one million tokens.
 *
 * @param cachedInput for input from the provider's cache; null: as other input
 * @param cacheWrite for input that the provider puts into its cache; null: as other input
 * @param asOf when the price was read
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Price(
    double input,
    double output,
    @Nullable Double cachedInput,
    @Nullable Double cacheWrite,
    LocalDate asOf) {
  private static final double MILLION = 1e6;

  /** A price without one for writing to a cache. */
  public Price(double input, double output, @Nullable Double cachedInput, LocalDate asOf) {
    this(input, output, cachedInput, null, asOf);
  }

  /** USD; not a number if input or output is unknown. */
  public double of(Usage usage) {
    if (usage.input() == null || usage.output() == null) return Double.NaN;
    long read = usage.cachedInput() == null ? 0 : usage.cachedInput();
    long written = usage.cacheWritten() == null ? 0 : usage.cacheWritten();
    return ((usage.input() - read - written) * input
            + read * (cachedInput == null ? input : cachedInput)
            + written * (cacheWrite == null ? input : cacheWrite)
            + usage.output() * output)
        / MILLION;
  }
}

package dev.kbx.llm;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * USD for one million tokens.
 *
 * @param cachedInput for input from the provider's cache; null: as other input
 * @param asOf when the price was read
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Price(double input, double output, @Nullable Double cachedInput, LocalDate asOf) {
  private static final double MILLION = 1e6;

  /** USD; not a number if input or output is unknown. */
  public double of(Usage usage) {
    if (usage.input() == null || usage.output() == null) return Double.NaN;
    long cached = usage.cachedInput() == null ? 0 : usage.cachedInput();
    double cachedPrice = cachedInput == null ? input : cachedInput;
    return ((usage.input() - cached) * input + cached * cachedPrice + usage.output() * output)
        / MILLION;
  }
}

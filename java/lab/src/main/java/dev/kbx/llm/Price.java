package dev.kbx.llm;

import dev.kbx.files.Resources;
import dev.kbx.llm.ChatReply.Usage;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * USD for one million tokens.
 *
 * @param cachedInput for input from the provider's cache; null: as other input
 * @param cacheWrite for input that the provider puts into its cache; null: as other input
 * @param asOf when the price was read
 */
public record Price(
    double input,
    double output,
    @Nullable Double cachedInput,
    @Nullable Double cacheWrite,
    LocalDate asOf) {
  private static final double MILLION = 1e6;
  private static final String BUNDLED = "/llm/prices.toml";

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

  /** The bundled list prices, by names as {@code openai:gpt-5}, in the file's order. */
  static Map<String, Price> bundled() {
    TomlTable document = TomlTable.parse("prices.toml", Resources.text(Price.class, BUNDLED));
    Map<String, Price> prices = new LinkedHashMap<>();
    for (JsonNode node : document.tables("price")) {
      TomlTable table = new TomlTable("prices.toml", node);
      Price price = of(table);
      for (String model : table.texts("models")) prices.put(model, price);
      table.finish();
    }
    document.finish();
    return prices;
  }

  private static Price of(TomlTable table) {
    Double input = table.number("input");
    Double output = table.number("output");
    LocalDate asOf = table.date("as_of");
    if (input == null || output == null || asOf == null) {
      throw table.invalid("input, output and as_of", "are needed");
    }
    return new Price(
        input, output, table.number("cached_input"), table.number("cache_write"), asOf);
  }
}

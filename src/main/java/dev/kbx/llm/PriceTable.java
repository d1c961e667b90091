package dev.kbx.llm;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** The bundled list prices, by names as {@code openai:gpt-5}. */
final class PriceTable {
  private static final String RESOURCE = "/llm/prices.toml";

  private final Map<String, Price> prices;

  private PriceTable(Map<String, Price> prices) {
    this.prices = prices;
  }

  static PriceTable bundled() {
    try (InputStream in =
        Objects.requireNonNull(PriceTable.class.getResourceAsStream(RESOURCE), RESOURCE)) {
      return parse(new String(in.readAllBytes(), UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static PriceTable parse(String text) {
    TomlTable document = TomlFile.parse("prices.toml", text);
    Map<String, Price> prices = new LinkedHashMap<>();
    for (JsonNode node : document.tables("price")) {
      TomlTable table = new TomlTable("prices.toml", node);
      Price price = price(table);
      for (String model : table.texts("models")) prices.put(model, price);
      table.finish();
    }
    document.finish();
    return new PriceTable(prices);
  }

  private static Price price(TomlTable table) {
    Double input = table.number("input");
    Double output = table.number("output");
    LocalDate asOf = table.date("as_of");
    if (input == null || output == null || asOf == null) {
      throw table.invalid("input, output and as_of", "are needed");
    }
    return new Price(
        input, output, table.number("cached_input"), table.number("cache_write"), asOf);
  }

  Optional<Price> find(Provider provider, String model) {
    return Optional.ofNullable(prices.get(provider.label() + ":" + model));
  }

  /** In the file's order. */
  Map<String, Price> all() {
    return prices;
  }
}

package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.llm.ChatReply.Usage;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PriceTest {
  private static final LocalDate DAY = LocalDate.of(2026, 1, 31);

  @Test
  void costIsTokensTimesPrice() {
    Price price = new Price(2.50, 10.00, 1.25, DAY);
    // 1,200 at 2.50 and 800 at 1.25 and 300 at 10.00: 3,000 + 1,000 + 3,000 millionths.
    assertThat(price.of(new Usage(2_000L, 300L, 800L, 100L))).isCloseTo(0.007, within(1e-12));
    assertThat(price.of(new Usage(2_000L, 300L, null, null))).isCloseTo(0.008, within(1e-12));
  }

  @Test
  void cacheWritesHaveTheirOwnPrice() {
    Usage usage = new Usage(2_000L, 300L, 800L, null, 200L);
    // 1,000 at 2.00, 800 at 0.20, 200 at 2.50 and 300 at 10.00.
    assertThat(new Price(2.00, 10.00, 0.20, 2.50, DAY).of(usage)).isCloseTo(0.00566, within(1e-12));
    // Without a price of its own: 1,200 at 2.00.
    assertThat(new Price(2.00, 10.00, 0.20, DAY).of(usage)).isCloseTo(0.00556, within(1e-12));
  }

  @Test
  void unpricedCachedInputCostsAsOtherInput() {
    Price price = new Price(2.50, 10.00, null, DAY);
    assertThat(price.of(new Usage(2_000L, 300L, 800L, null))).isCloseTo(0.008, within(1e-12));
  }

  @Test
  void unknownTokensHaveNoPrice() {
    Price price = new Price(2.50, 10.00, null, DAY);
    assertThat(price.of(new Usage(null, 300L, null, null))).isNaN();
    assertThat(price.of(new Usage(2_000L, null, null, null))).isNaN();
  }

  @Test
  void bundledPricesAreForTheVendorsOwnNames() {
    ModelCatalog catalog = ModelCatalog.read(Path.of("nowhere.toml"), Map.of(), () -> Path.of(""));
    assertThat(catalog.price("openai:gpt-5").orElseThrow())
        .isEqualTo(new Price(1.25, 10, 0.125, LocalDate.of(2026, 3, 21)));
    assertThat(catalog.price("anthropic:claude-sonnet-4-5").orElseThrow().output()).isEqualTo(15);
    assertThat(catalog.price("openai:gpt-5-of-tomorrow")).isEmpty();
    assertThat(catalog.price("gpt-5")).isEmpty();
    assertThat(catalog.price("replay:ledger.jsonl")).isEmpty();
    assertThat(catalog.price("command:cat")).isEmpty();
  }

  @Test
  void theBundledTableIsSane() {
    Map<String, Price> prices =
        ModelCatalog.read(Path.of("nowhere.toml"), Map.of(), () -> Path.of("")).prices();
    assertThat(prices).hasSizeGreaterThan(20);
    prices.forEach((model, price) -> {
      assertThat(model).matches("(openai|anthropic|gemini):\\S+");
      assertThat(price.input()).as(model).isPositive().isLessThan(price.output());
      if (price.cachedInput() != null) {
        assertThat(price.cachedInput()).as(model).isBetween(0.0, price.input());
      }
      assertThat(price.asOf()).as(model).isAfter(LocalDate.of(2026, 1, 1));
    });
  }
}

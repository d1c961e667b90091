package dev.kbx.cli;

import dev.kbx.document.Block;
import dev.kbx.document.Block.Note;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Section;
import dev.kbx.document.Text;
import dev.kbx.llm.ChatReply;
import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ModelCatalog.Configured;
import dev.kbx.llm.Price;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Language models and their prices. */
final class ModelText {
  private static final String PRICES =
      "Prices: USD for a million tokens, as of the last column. Check them before you rely on"
          + " them.";

  private ModelText() {}

  /** A row for each model, and what is wrong with keys below. */
  static Section models(List<Configured> models) {
    List<Block> blocks = new ArrayList<>();
    blocks.add(
        Block.Table.of(
            "models",
            "",
            List.of(
                Column.text("model", Configured::name),
                Column.text("key", each -> key(each.key())),
                Column.text("", ModelText::presence),
                Column.number("in flight", each -> Cell.count(each.parallel())),
                Column.number("req/min", each -> count(each.requestsPerMinute())),
                Column.number("tok/min", each -> count(each.tokensPerMinute())),
                Column.number("input", each -> price(each.price(), Price::input)),
                Column.number("output", each -> price(each.price(), Price::output)),
                Column.<Configured>text(
                    "as of", each -> each.price() == null ? null : each.price().asOf().toString())),
            models));
    for (Configured model : models) blocks.add(new Note(servedBy(model)));
    models.stream()
        .filter(model -> model.model() != null)
        .flatMap(ModelText::remarks)
        .forEach(remark -> blocks.add(new Note(remark)));
    blocks.add(new Note(PRICES));
    return new Section("models", "Models", blocks);
  }

  /** Addresses and paths have lines of their own, as they may be long. */
  private static String servedBy(Configured model) {
    String named = model.model() == null ? "" : model.model() + " ";
    return "%s: %sat %s".formatted(model.name(), named, model.address());
  }

  private static String key(Configured.Key key) {
    if (key.from() == null) return "none needed";
    return isFile(key.from()) ? "a file" : key.from();
  }

  private static String presence(Configured model) {
    if (model.key().from() == null) return "";
    return model.key().present() ? "present" : "missing";
  }

  private static Cell count(@Nullable Number number) {
    return number == null ? Cell.missing() : Cell.count(number.longValue());
  }

  private static Cell price(@Nullable Price price, Function<Price, @Nullable Double> of) {
    return price == null ? Cell.missing() : Cell.price(of.apply(price));
  }

  private static boolean isFile(String key) {
    return key.contains("/");
  }

  private static Stream<String> remarks(Configured model) {
    List<String> remarks = new ArrayList<>();
    String from = model.key().from();
    if (from != null && isFile(from) && model.key().problem() == null) {
      remarks.add("%s: key in %s".formatted(model.name(), from));
    }
    if (model.key().problem() != null) remarks.add(model.name() + ": " + model.key().problem());
    if (!model.without().isEmpty()) {
      remarks.add(model.name() + ": is not sent " + String.join(", ", model.without()));
    }
    return remarks.stream();
  }

  /** The bundled prices, a row for each model. */
  static Section prices(Map<String, Price> prices) {
    return new Section(
        "prices",
        "Prices",
        List.of(
            Block.Table.of(
                "prices",
                "",
                List.of(
                    Column.text("model", Map.Entry<String, Price>::getKey),
                    Column.number("input", each -> price(each.getValue(), Price::input)),
                    Column.number("cached", each -> price(each.getValue(), Price::cachedInput)),
                    Column.number("written", each -> price(each.getValue(), Price::cacheWrite)),
                    Column.number("output", each -> price(each.getValue(), Price::output)),
                    Column.<Map.Entry<String, Price>>text(
                        "as of", each -> each.getValue().asOf().toString())),
                List.copyOf(prices.entrySet())),
            new Note(PRICES)));
  }

  /** What a model said to a short request. */
  static String answered(String model, ChatReply reply, Optional<Price> price) {
    return "%s answers: \"%s\" (%s) in %s, as %s; %s"
        .formatted(
            model,
            Text.cut(Text.clean(reply.text()), 40),
            Text.clean(reply.finish()),
            Cell.seconds(reply.seconds()).text(),
            Text.clean(reply.servedModel()),
            cost(reply.usage(), price));
  }

  private static String cost(@Nullable Usage usage, Optional<Price> price) {
    if (usage == null) return "the provider does not say how many tokens";
    double cost = price.map(p -> p.of(usage)).orElse(Double.NaN);
    return "tokens: %s in, %s out, %s"
        .formatted(
            count(usage.input()).text(),
            count(usage.output()).text(),
            Double.isNaN(cost) ? "price unknown" : Cell.usd(cost).text() + " USD");
  }
}

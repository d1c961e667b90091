package dev.kbx.cli;

import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import dev.kbx.llm.ChatReply;
import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ModelCatalog.Configured;
import dev.kbx.llm.Price;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Language models and their prices as tables, never truncated. */
final class ModelText {
  /** Unknown or unlimited. */
  private static final String NONE = "-";

  private static final String PRICES =
      "Prices: USD for a million tokens, on the day of AS OF. Check them before you rely on them.";

  private ModelText() {}

  /** One model a line, with a heading, and what is wrong with keys below. */
  static List<String> models(List<Configured> models) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of("MODEL", "KEY", "", "IN FLIGHT", "REQ/MIN", "TOK/MIN", "INPUT", "OUTPUT", "AS OF"));
    for (Configured model : models) rows.add(row(model));
    List<String> lines = new ArrayList<>(new Grid("lllrrrrrl", rows).lines(Integer.MAX_VALUE));
    for (Configured model : models) lines.add(servedBy(model));
    models.stream()
        .filter(model -> model.model() != null)
        .flatMap(ModelText::remarks)
        .forEach(lines::add);
    lines.add(PRICES);
    return lines;
  }

  /** Addresses and paths have lines of their own, as they may be long. */
  private static String servedBy(Configured model) {
    String named = model.model() == null ? "" : model.model() + " ";
    return "%s: %sat %s".formatted(model.name(), named, model.address());
  }

  private static List<String> row(Configured model) {
    Price price = model.price();
    Configured.Key key = model.key();
    return List.of(
        model.name(),
        key.from() == null ? "none needed" : isFile(key.from()) ? "a file" : key.from(),
        key.from() == null ? "" : key.present() ? "present" : "missing",
        String.valueOf(model.parallel()),
        number(model.requestsPerMinute()),
        number(model.tokensPerMinute()),
        price == null ? NONE : usd(price.input()),
        price == null ? NONE : usd(price.output()),
        price == null ? NONE : price.asOf().toString());
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

  /** The bundled prices, a model a line. */
  static List<String> prices(Map<String, Price> prices) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("MODEL", "INPUT", "CACHED", "WRITTEN", "OUTPUT", "AS OF"));
    prices.forEach((model, price) ->
        rows.add(
            List.of(
                model,
                usd(price.input()),
                price.cachedInput() == null ? NONE : usd(price.cachedInput()),
                price.cacheWrite() == null ? NONE : usd(price.cacheWrite()),
                usd(price.output()),
                price.asOf().toString())));
    List<String> lines = new ArrayList<>(new Grid("lrrrrl", rows).lines(Integer.MAX_VALUE));
    lines.add(PRICES);
    return lines;
  }

  /** What a model said to a short request. */
  static String answered(String model, ChatReply reply, Optional<Price> price) {
    return "%s answers: \"%s\" (%s) in %.1f s, as %s; %s"
        .formatted(
            model,
            Text.cut(Text.clean(reply.text()), 40),
            Text.clean(reply.finish()),
            reply.seconds(),
            Text.clean(reply.servedModel()),
            cost(reply.usage(), price));
  }

  private static String cost(@Nullable Usage usage, Optional<Price> price) {
    if (usage == null) return "the provider does not say how many tokens";
    String tokens = "%s in, %s out".formatted(number(usage.input()), number(usage.output()));
    double cost = price.map(p -> p.of(usage)).orElse(Double.NaN);
    return Double.isNaN(cost)
        ? "tokens: " + tokens + ", price unknown"
        : String.format(Locale.ROOT, "tokens: %s, $%.6f", tokens, cost);
  }

  private static String number(@Nullable Number number) {
    return number == null ? NONE : number.toString();
  }

  /** {@code 10.00}, {@code 0.125}: two digits, or three where the third counts. */
  private static String usd(double price) {
    String text = String.format(Locale.ROOT, "%.3f", price);
    return text.endsWith("0") ? text.substring(0, text.length() - 1) : text;
  }
}

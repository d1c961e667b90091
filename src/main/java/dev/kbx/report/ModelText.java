package dev.kbx.report;

import dev.kbx.llm.ChatReply;
import dev.kbx.llm.Configured;
import dev.kbx.llm.Price;
import dev.kbx.llm.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Language models and their prices as tables, never truncated. */
public final class ModelText {
  /** Unknown or unlimited. */
  private static final String NONE = "-";

  private static final String PRICES =
      "Prices: USD for a million tokens, on the day of AS OF. Check them before you rely on them.";

  private ModelText() {}

  /** One model a line, with a heading, and what is wrong with keys below. */
  public static List<String> models(List<Configured> models) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "MODEL",
            "KEY",
            "",
            "IN FLIGHT",
            "REQ/MIN",
            "TOK/MIN",
            "INPUT",
            "OUTPUT",
            "AS OF",
            "SERVED BY"));
    for (Configured model : models) rows.add(row(model));
    List<String> lines = new ArrayList<>(new Grid("lllrrrrrll", rows).lines(Integer.MAX_VALUE));
    models.stream()
        .filter(model -> model.model() != null)
        .flatMap(ModelText::remarks)
        .forEach(lines::add);
    lines.add(PRICES);
    return lines;
  }

  private static List<String> row(Configured model) {
    Price price = model.price();
    Configured.Key key = model.key();
    return List.of(
        model.name(),
        key.from() == null ? "none needed" : key.from(),
        key.from() == null ? "" : key.present() ? "present" : "missing",
        String.valueOf(model.parallel()),
        number(model.requestsPerMinute()),
        number(model.tokensPerMinute()),
        price == null ? NONE : usd(price.input()),
        price == null ? NONE : usd(price.output()),
        price == null ? NONE : price.asOf().toString(),
        (model.model() == null ? "" : model.model() + " at ") + model.address());
  }

  private static Stream<String> remarks(Configured model) {
    List<String> remarks = new ArrayList<>();
    if (model.key().problem() != null) remarks.add(model.name() + ": " + model.key().problem());
    if (!model.without().isEmpty()) {
      remarks.add(model.name() + ": is not sent " + String.join(", ", model.without()));
    }
    return remarks.stream();
  }

  /** The bundled prices, a model a line. */
  public static List<String> prices(Map<String, Price> prices) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("MODEL", "INPUT", "CACHED", "OUTPUT", "AS OF"));
    prices.forEach((model, price) ->
        rows.add(
            List.of(
                model,
                usd(price.input()),
                price.cachedInput() == null ? NONE : usd(price.cachedInput()),
                usd(price.output()),
                price.asOf().toString())));
    List<String> lines = new ArrayList<>(new Grid("lrrrl", rows).lines(Integer.MAX_VALUE));
    lines.add(PRICES);
    return lines;
  }

  /** What a model said to a short request. */
  public static String answered(String model, ChatReply reply, Optional<Price> price) {
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

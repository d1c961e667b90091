package dev.kbx.cli;

import dev.kbx.app.UserError;
import dev.kbx.generate.Budget;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Budgets as users write them: {@code calls=10,usd=0.5}. */
final class BudgetText {
  private static final List<String> KEYS =
      List.of("calls", "requests", "tokens", "usd", "wall", "device");
  private static final List<String> WHOLE = List.of("calls", "requests", "tokens");

  private BudgetText() {}

  /**
   * @param option for messages
   */
  static Budget parse(String option, @Nullable String text) {
    if (text == null) return Budget.NONE;
    Map<String, Double> limits = new LinkedHashMap<>();
    for (String part : text.split(",", -1)) {
      String[] sides = part.strip().split("=", -1);
      if (sides.length != 2 || !KEYS.contains(sides[0])) throw refused(option, part.strip());
      double amount = amount(option, part.strip(), sides[1]);
      if (WHOLE.contains(sides[0]) && amount != Math.rint(amount)) {
        throw refused(option, part.strip());
      }
      if (limits.put(sides[0], amount) != null) {
        throw new UserError("%s: has '%s' twice".formatted(option, sides[0]));
      }
    }
    return new Budget(
        whole(limits.get("calls")),
        whole(limits.get("requests")),
        whole(limits.get("tokens")),
        limits.get("usd"),
        limits.get("wall"),
        limits.get("device"));
  }

  private static double amount(String option, String part, String text) {
    try {
      double amount = Double.parseDouble(text);
      if (amount > 0 && Double.isFinite(amount)) return amount;
    } catch (NumberFormatException _) {
      // Refused below.
    }
    throw refused(option, part);
  }

  private static @Nullable Long whole(@Nullable Double limit) {
    return limit == null ? null : Long.valueOf((long) limit.doubleValue());
  }

  private static UserError refused(String option, String part) {
    return new UserError(
        "%s: '%s' is no limit; write calls=10,requests=20,tokens=50000,usd=0.50,wall=600,device=60, each above 0"
            .formatted(option, part));
  }
}

package dev.kbx.cli;

import dev.kbx.verdict.Spent;
import java.util.ArrayList;
import java.util.List;

/** What was spent, in words. */
final class SpendingText {
  private SpendingText() {}

  static String of(Spent spent) {
    List<String> parts = new ArrayList<>();
    parts.add(spent.calls() + (spent.calls() == 1 ? " call" : " calls"));
    if (spent.reported() > 0) parts.add(spent.reported() + " of them by the program's word");
    if (spent.requests() != spent.calls()) parts.add(spent.requests() + " requests");
    if (spent.lost() > 0) parts.add(spent.lost() + " lost");
    if (spent.tokens() > 0) {
      String least = spent.uncounted() > 0 ? "at least " : "";
      parts.add("%s%,d tokens".formatted(least, spent.tokens()));
    }
    if (spent.usd() > 0) parts.add(usd(spent));
    if (spent.uncounted() > 0) parts.add(spent.uncounted() + " without usage: not priced");
    if (spent.deviceSeconds() > 0) parts.add("%.0f s judging".formatted(spent.deviceSeconds()));
    return String.join(", ", parts);
  }

  /** USD, or at least so much where prices are unknown. */
  static String usd(Spent spent) {
    return "%s%.2f USD".formatted(spent.unpriced() > 0 ? "at least " : "", spent.usd());
  }
}

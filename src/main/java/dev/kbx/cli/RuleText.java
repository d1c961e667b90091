package dev.kbx.cli;

import dev.kbx.check.RuleInfo;
import dev.kbx.check.Rules;
import java.util.List;

/** Rules as text for a terminal. */
final class RuleText {
  private static final String POLICY =
      "\n\nIt does not stop the published accounting: eval calls the candidate and compares its"
          + " results, for call_ok and exe_ok. With --policy mixed it is a flag.";

  private RuleText() {}

  /** A line for each rule: severity, id, title. */
  static String list(List<RuleInfo> rules) {
    int width = rules.stream().mapToInt(rule -> rule.id().length()).max().orElse(0);
    StringBuilder text = new StringBuilder();
    for (RuleInfo rule : rules) {
      text.append(
          "%-6s  %s  %s%n"
              .formatted(
                  rule.severity().label(),
                  rule.id() + " ".repeat(width - rule.id().length()),
                  rule.title()));
    }
    return text.toString();
  }

  /** All about one rule. */
  static String explanation(RuleInfo rule) {
    return """
    %s (%s): %s

    %s%s

    Instead: %s

    Example of what it finds:

    %s\
    """
        .formatted(
            rule.id(),
            rule.severity().label(),
            rule.title(),
            rule.rationale().strip(),
            Rules.isPolicy(rule.id()) ? POLICY : "",
            rule.advice().strip(),
            rule.example().stripTrailing().indent(4));
  }
}

package dev.kbx.report;

import dev.kbx.document.Text;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Where a candidate holds, and where it breaks beyond what its verdict says, for a terminal. */
final class CoverageText {
  private static final int BREAK_LINES = 2;

  private CoverageText() {}

  /**
   * A line for all that it holds for, and one or two for each break; none where nothing is known.
   */
  static List<String> lines(Verdict verdict, int width) {
    List<String> lines = new ArrayList<>();
    List<String> holds = verdict.judgement().holds();
    if (holds != null && !holds.isEmpty()) {
      lines.addAll(Text.wrap("holds for " + String.join(", ", holds), width, BREAK_LINES));
    }
    List<Verdict.Break> breaks = verdict.judgement().breaks();
    if (breaks == null) return lines;
    for (Verdict.Break each : breaks) {
      if (Objects.equals(verdict.judgement().message(), each.message())) continue;
      String text =
          "breaks on %s: %s, %s"
              .formatted(each.property(), each.status().label(), Text.clean(each.message()));
      lines.addAll(Text.wrap(text, width, BREAK_LINES));
    }
    return lines;
  }
}

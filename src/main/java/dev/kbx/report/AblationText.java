package dev.kbx.report;

import dev.kbx.analysis.Ablation;
import dev.kbx.analysis.Outcome;
import dev.kbx.document.Cell;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@link Ablation}s for a terminal: what one condition of generation changes.
 *
 * @param width columns of the terminal
 */
record AblationText(int width) {
  private static final int ROWS = 15;
  private static final int VALUE = 16;

  /** Lines after an empty one; none without an ablation. */
  List<String> lines(List<Ablation> all) {
    List<Ablation> correct =
        all.stream().filter(each -> each.outcome() == Outcome.CORRECT).toList();
    if (correct.isEmpty()) return List.of();
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("condition", "model", "tasks", "only 1st", "2nd", "odds ratio", "p", "Holm"));
    for (Ablation each : correct.subList(0, Math.min(ROWS, correct.size()))) {
      rows.add(
          List.of(
              "%s: %s, %s"
                  .formatted(
                      Text.clean(each.condition()), value(each.first()), value(each.second())),
              value(each.model()),
              Integer.toString(each.counts().tasks()),
              Integer.toString(each.counts().onlyFirst()),
              Integer.toString(each.counts().onlySecond()),
              MethodsText.odds(each.mcnemar()),
              Cell.probability(each.mcnemar().pValue()).text(),
              Cell.probability(each.holm()).text()));
    }
    List<String> lines = new ArrayList<>(List.of(""));
    lines.addAll(new Grid("llrrrrrr", rows).lines(width));
    if (correct.size() > ROWS) {
      lines.add("… and %d more, in --json".formatted(correct.size() - ROWS));
    }
    lines.addAll(
        new PoolText(width)
            .wrap("Pairs that differ in one condition alone, on the tasks that both have."));
    return lines;
  }

  private static String value(@Nullable String value) {
    return value == null ? "not stated" : Text.cut(Text.clean(value), VALUE);
  }
}

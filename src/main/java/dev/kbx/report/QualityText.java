package dev.kbx.report;

import dev.kbx.analysis.CodeQuality;
import dev.kbx.analysis.ComplexityEffect;
import dev.kbx.analysis.Entered;
import dev.kbx.analysis.Maker;
import dev.kbx.analysis.Methods.Unmeasured;
import dev.kbx.analysis.TechniqueUse;
import dev.kbx.analysis.TechniqueUse.OfMaker;
import dev.kbx.analysis.TechniqueUse.Use;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * {@link CodeQuality} for a terminal.
 *
 * @param width columns of the terminal
 */
public record QualityText(int width) {
  private static final String UNKNOWN = "–";

  /** Columns of a technique's name and of the uses by one method and model. */
  private static final int NAME = 46;

  private static final int CELL = 11;

  /** The text, ending in a line break. */
  public String render(CodeQuality quality) {
    PoolText text = new PoolText(width);
    Entered entered = quality.entered();
    boolean several = entered.made().size() > 1;
    List<String> lines =
        new ArrayList<>(several ? text.headWithLetters(entered) : text.head(entered));
    for (Unmeasured each : quality.unmeasured()) {
      lines.addAll(
          text.wrap(
              "%s: not known: %s.".formatted(each.outcome().label(), Text.clean(each.why()))));
    }
    lines.add("");
    lines.addAll(complexity(quality, text));
    lines.add("");
    lines.addAll(techniques(quality, text));
    return String.join("\n", lines) + "\n";
  }

  private List<String> complexity(CodeQuality quality, PoolText text) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("complexity and failure", "", "tasks", "candidates", "rank correlation"));
    for (ComplexityEffect each : quality.complexity()) {
      if (each.candidates() == 0) continue;
      String whose = each.maker() == null ? "" : " of " + letter(each.maker(), quality.entered());
      rows.add(
          List.of(
              "%s, %s%s".formatted(each.of().label(), each.measure().label(), whose),
              each.failure().label(),
              Integer.toString(each.tasks()),
              Integer.toString(each.candidates()),
              correlation(each)));
    }
    List<String> lines = new ArrayList<>();
    if (rows.size() > 1) {
      lines.addAll(new Grid("llrrr", rows).lines(width));
      lines.addAll(
          text.wrap(
              "Spearman's rho of the size of code with failure, above 0 where more code fails more;"
                  + " [ ]: 95 % by bootstrap over tasks. call: cannot be called, of all candidates;"
                  + " semantic: not correct, of those that can be called. A reference counts once,"
                  + " with the share of its candidates that fail."));
    }
    if (quality.withoutReference() > 0) {
      lines.addAll(
          text.wrap(
              "Complexity of the reference is not known for %s: the suite is not here, has changed,"
                      .formatted(Counted.of(quality.withoutReference(), "candidate"))
                  + " or has no source of it."));
    }
    return lines;
  }

  private static String letter(@Nullable Maker maker, Entered entered) {
    List<Maker> all =
        entered.made().stream().map(made -> new Maker(made.method(), made.model())).toList();
    return PoolText.letter(all.indexOf(maker));
  }

  /** {@code +0.31 [+0.12 to +0.48]}. */
  private static String correlation(ComplexityEffect effect) {
    if (effect.rho() == null) return UNKNOWN;
    String value = String.format(Locale.ROOT, "%+.2f", effect.rho());
    return effect.low() == null
        ? value
        : value + String.format(Locale.ROOT, " [%+.2f to %+.2f]", effect.low(), effect.high());
  }

  private List<String> techniques(CodeQuality quality, PoolText text) {
    List<String> lines = new ArrayList<>();
    if (quality.techniques().isEmpty()) {
      lines.add("No optimization technique was seen in a source.");
    } else {
      lines.addAll(table(quality));
      lines.addAll(
          text.wrap(
              "Attempted: seen in the source. The share of correct ones is the mean over tasks."
                  + " Letters: correct/attempted of each method and model."));
    }
    if (quality.withoutFeatures() > 0) {
      lines.addAll(
          text.wrap(
              "Nothing is known of the source of %s, which does not parse or was judged by an"
                      .formatted(Counted.of(quality.withoutFeatures(), "candidate"))
                  + " earlier version."));
    }
    return lines;
  }

  private List<String> table(CodeQuality quality) {
    int makers = quality.entered().made().size();
    int shown = makers < 2 ? 0 : Math.clamp((width - NAME) / CELL, 0, makers);
    List<List<String>> rows = new ArrayList<>();
    List<String> head =
        new ArrayList<>(List.of("technique", "attempted", "correct", "faster", "share"));
    for (int i = 0; i < shown; i++) head.add(PoolText.letter(i));
    rows.add(head);
    for (TechniqueUse each : quality.techniques()) {
      Use all = each.all();
      List<String> row =
          new ArrayList<>(
              List.of(
                  each.technique().replace('_', ' '),
                  "%d of %d".formatted(all.attempted(), all.known()),
                  Integer.toString(all.correct()),
                  all.faster() == null ? UNKNOWN : Integer.toString(all.faster()),
                  share(all)));
      for (OfMaker own : each.makers().subList(0, shown)) {
        row.add("%d/%d".formatted(own.use().correct(), own.use().attempted()));
      }
      rows.add(row);
    }
    List<String> lines =
        new ArrayList<>(new Grid("l" + "r".repeat(head.size() - 1), rows).lines(width));
    if (makers > 1 && shown < makers) {
      lines.add("… and the columns of %d more, in --json".formatted(makers - shown));
    }
    return lines;
  }

  /** {@code 62 % [52–71]}. */
  private static String share(Use use) {
    if (use.share() == null) return UNKNOWN;
    String share = String.format(Locale.ROOT, "%.0f %%", use.share() * 100);
    return use.low() == null || use.high() == null
        ? share
        : share + String.format(Locale.ROOT, " [%.0f–%.0f]", use.low() * 100, use.high() * 100);
  }
}

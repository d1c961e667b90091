package dev.kbx.section;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.Deviance.Measure;
import dev.kbx.analysis.Errors.OfStatus;
import dev.kbx.analysis.FactorDeviance;
import dev.kbx.analysis.FactorDeviance.Level;
import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.Iterations.OfMethod;
import dev.kbx.analysis.Iterations.Round;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.Outcome;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import dev.kbx.document.Text;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@link Overview} on a page: how good, where, what rounds gain, why not. */
public final class OverviewSection {
  /** Rows about each subject. */
  private static final int ROWS = 4;

  /** Rounds are told for so many methods. */
  private static final int METHODS = 3;

  /** The p-value below which a factor differs by more than chance. */
  private static final double APART = 0.05;

  /** Characters of a message. */
  private static final int LONGEST = 60;

  private final Overview overview;
  private final Blocks blocks = new Blocks();

  private OverviewSection(Overview overview) {
    this.overview = overview;
  }

  public static Section of(Overview overview) {
    OverviewSection section = new OverviewSection(overview);
    if (overview.methods().methods().isEmpty()) section.blocks.prose("No candidate was judged.");
    section.blocks.addAll(MethodsSection.rates(overview.methods()));
    section.where();
    section.rounds();
    section.why();
    section.blocks.note(
        "More: kbx analyze methods, deviance, iterations, errors, quality, efficiency, fastp,"
            + " passk, portability, budget.");
    return section.blocks.section("summary", "Summary");
  }

  private void where() {
    Measure correct =
        overview.deviance().outcomes().stream()
            .filter(measure -> measure.outcome() == Outcome.CORRECT)
            .findFirst()
            .orElseThrow();
    if (correct.unknown() != null || correct.factors().isEmpty()) {
      blocks.note(
          "What explains failure is not known: %s.",
          correct.unknown() == null ? "no factor varies" : correct.unknown());
      return;
    }
    List<FactorDeviance> apart =
        correct.factors().stream()
            .filter(factor -> factor.permutation().pValue() < APART)
            .sorted(
                Comparator.comparingDouble((FactorDeviance factor) ->
                        factor.model().explained() - factor.permutation().expected())
                    .reversed())
            .toList();
    if (apart.isEmpty()) blocks.note("No factor explains failure beyond chance.");
    for (FactorDeviance factor : first(apart)) {
      blocks.note(
          "%s explains %s of failure, where chance alone would show %s: %s.",
          factor.factor(),
          Cell.share(factor.model().explained()).text(),
          Cell.share(factor.permutation().expected()).text(),
          extremes(factor));
    }
  }

  /** {@code best Math 80.0 % of 20, worst Loss 10.0 % of 30}. */
  private static String extremes(FactorDeviance factor) {
    Comparator<Level> byRate = Comparator.comparingDouble(OverviewSection::rate);
    Level best = factor.levels().stream().max(byRate).orElseThrow();
    Level worst = factor.levels().stream().min(byRate).orElseThrow();
    return "best %s, worst %s".formatted(level(best), level(worst));
  }

  private static double rate(Level level) {
    return (double) level.passes() / level.trials();
  }

  private static String level(Level level) {
    return "%s %s of %d".formatted(level.name(), Cell.share(rate(level)).text(), level.trials());
  }

  private void rounds() {
    if (overview.iterations() == null) return;
    MethodNames names = MethodNames.of(overview.iterations().entered());
    List<OfMethod> all = overview.iterations().methods();
    for (OfMethod method : Blocks.first(METHODS, all)) {
      Round first = method.rounds().getFirst();
      Round last = method.rounds().getLast();
      blocks.note(
          "%s: round %d solves %s, all up to round %d %s; rescued %d, regressed %d.",
          names.of(method.method(), method.model()),
          first.round(),
          solved(first),
          last.round(),
          solved(last),
          method.steps().stream().mapToInt(Iterations.Step::rescued).sum(),
          method.steps().stream().mapToInt(Iterations.Step::regressed).sum());
    }
    if (all.size() > METHODS) blocks.note("… and %d more.", all.size() - METHODS);
  }

  private static String solved(Round round) {
    return round.share() == null
        ? Counted.of(round.solved(), "attempt")
        : Cell.share(round.share()).text();
  }

  private void why() {
    AdvisedErrors advised = overview.errors();
    String statuses =
        advised.errors().statuses().stream()
            .sorted(Comparator.comparingInt(OfStatus::candidates).reversed())
            .limit(ROWS)
            .map(each -> each.candidates() + " " + each.status().label())
            .collect(joining(", "));
    blocks.prose(
        "%s%s.", ErrorsSection.failed(advised.errors()), statuses.isEmpty() ? "" : ": " + statuses);
    blocks.table(
        "messages",
        "The most frequent messages.",
        List.of(
            Column.number("candidates", each -> Cell.count(each.candidates())),
            Column.text("message", each -> Text.cut(Text.clean(each.shape()), LONGEST))),
        first(advised.errors().messages()));
    blocks.table(
        "advice",
        "Advice, by how many of them it is about.",
        List.of(
            Column.number("candidates", each -> Cell.count(each.candidates())),
            Column.text("advice", each -> Text.cut(each.line(), LONGEST))),
        first(advised.advice()));
  }

  private static <T> List<T> first(List<T> all) {
    return Blocks.first(ROWS, all);
  }

  /**
   * All analyses of some runs.
   *
   * @param iterations null if no method has two rounds
   */
  public record Overview(
      Methods methods, Deviance deviance, @Nullable Iterations iterations, AdvisedErrors errors) {}
}

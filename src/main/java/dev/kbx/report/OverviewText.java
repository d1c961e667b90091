package dev.kbx.report;

import dev.kbx.analysis.Deviance.Measure;
import dev.kbx.analysis.Errors.OfMessage;
import dev.kbx.analysis.Errors.OfStatus;
import dev.kbx.analysis.FactorDeviance;
import dev.kbx.analysis.FactorDeviance.Level;
import dev.kbx.analysis.IterationStep;
import dev.kbx.analysis.Iterations.OfMethod;
import dev.kbx.analysis.Iterations.Round;
import dev.kbx.analysis.Outcome;
import dev.kbx.document.Text;
import dev.kbx.report.AdvisedErrors.Advice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * {@link Overview} for a terminal, on a page: how good, where, what rounds gain, why not.
 *
 * @param width columns of the terminal
 */
public record OverviewText(int width) {
  /** Lines about each subject. */
  private static final int LINES = 4;

  /** Rounds are told for so many methods. */
  private static final int METHODS = 3;

  /** Below it a factor differs by more than chance. */
  private static final double APART = 0.05;

  /** The text, ending in a line break. */
  public String render(Overview overview) {
    MethodsText methods = new MethodsText(width);
    List<String> lines = new ArrayList<>(methods.summary(overview.methods()));
    lines.add("");
    lines.addAll(where(overview));
    if (overview.iterations() != null) {
      List<OfMethod> all = overview.iterations().methods();
      lines.add("");
      for (OfMethod method : all.subList(0, Math.min(METHODS, all.size()))) {
        lines.addAll(wrap(rounds(method)));
      }
      if (all.size() > METHODS) lines.add("… and %d more".formatted(all.size() - METHODS));
    }
    lines.add("");
    lines.addAll(why(overview.errors()));
    lines.add("");
    lines.addAll(
        wrap(
            "More: kbx analyze methods, deviance, iterations, errors, quality, efficiency, fastp,"
                + " passk, portability, budget."));
    return String.join("\n", lines) + "\n";
  }

  private List<String> where(Overview overview) {
    Measure correct =
        overview.deviance().outcomes().stream()
            .filter(measure -> measure.outcome() == Outcome.CORRECT)
            .findFirst()
            .orElseThrow();
    if (correct.unknown() != null) {
      return wrap("What explains failure is not known: %s.".formatted(correct.unknown()));
    }
    if (correct.factors().isEmpty()) {
      return wrap("What explains failure is not known: no factor varies.");
    }
    List<FactorDeviance> apart =
        correct.factors().stream()
            .filter(factor -> factor.permutation().pValue() < APART)
            .sorted(
                Comparator.comparingDouble((FactorDeviance factor) ->
                        factor.explained() - factor.permutation().expected())
                    .reversed())
            .toList();
    if (apart.isEmpty()) return wrap("No factor explains failure beyond chance.");
    List<String> lines = new ArrayList<>();
    for (FactorDeviance factor : apart.subList(0, Math.min(LINES, apart.size()))) {
      lines.addAll(
          wrap(
              String.format(
                  Locale.ROOT,
                  "%s explains %.1f %% of failure (%.1f %% by chance): %s.",
                  factor.factor(),
                  factor.explained() * 100,
                  factor.permutation().expected() * 100,
                  extremes(factor))));
    }
    return lines;
  }

  /** {@code best Math 80 % of 20, worst Loss 10 % of 30}. */
  private static String extremes(FactorDeviance factor) {
    Comparator<Level> byRate =
        Comparator.comparingDouble(level -> (double) level.passes() / level.trials());
    Level best = factor.levels().stream().max(byRate).orElseThrow();
    Level worst = factor.levels().stream().min(byRate).orElseThrow();
    return "best %s, worst %s".formatted(level(best), level(worst));
  }

  private static String level(Level level) {
    return String.format(
        Locale.ROOT,
        "%s %.0f %% of %d",
        Text.clean(level.name()),
        100.0 * level.passes() / level.trials(),
        level.trials());
  }

  private static String rounds(OfMethod method) {
    Round first = method.rounds().getFirst();
    Round last = method.rounds().getLast();
    return String.format(
        Locale.ROOT,
        "%s: round %d solves %.1f %%, all up to round %d %.1f %%; rescued %d, regressed %d.",
        IterationsText.name(method.method(), method.model()),
        first.round(),
        first.share() * 100,
        last.round(),
        last.share() * 100,
        method.steps().stream().mapToInt(IterationStep::rescued).sum(),
        method.steps().stream().mapToInt(IterationStep::regressed).sum());
  }

  private List<String> why(AdvisedErrors advised) {
    List<String> lines = new ArrayList<>();
    List<OfStatus> statuses =
        advised.errors().statuses().stream()
            .sorted(Comparator.comparingInt(OfStatus::candidates).reversed())
            .limit(LINES)
            .toList();
    if (statuses.isEmpty()) return wrap(ErrorsText.failed(advised.errors()) + ".");
    lines.addAll(
        wrap(
            "%s: %s."
                .formatted(
                    ErrorsText.failed(advised.errors()),
                    statuses.stream()
                        .map(each -> each.candidates() + " " + each.status().label())
                        .collect(Collectors.joining(", ")))));
    for (OfMessage each : first(advised.errors().messages())) {
      lines.add(Text.cut("%5d  %s".formatted(each.candidates(), Text.clean(each.shape())), width));
    }
    if (!advised.advice().isEmpty()) lines.add("Advice, by how many of them it is about:");
    for (Advice each : first(advised.advice())) {
      lines.add(Text.cut("%5d  %s".formatted(each.candidates(), each.line()), width));
    }
    return lines;
  }

  private static <T> List<T> first(List<T> all) {
    return all.subList(0, Math.min(LINES, all.size()));
  }

  private List<String> wrap(String text) {
    return Text.wrap(text, width, Integer.MAX_VALUE);
  }
}

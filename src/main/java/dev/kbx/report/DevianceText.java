package dev.kbx.report;

import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.Deviance.Measure;
import dev.kbx.analysis.FactorDeviance;
import dev.kbx.analysis.JointDeviance;
import dev.kbx.analysis.JointDeviance.Part;
import dev.kbx.analysis.JointDeviance.Test;
import dev.kbx.analysis.Outcome;
import dev.kbx.analysis.TaskIntercept;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * {@link Deviance} for a terminal: tables for each outcome, then what a reviewer would ask.
 *
 * @param width columns of the terminal
 */
public record DevianceText(int width) {
  private static final String UNKNOWN = "–";

  /** The text, ending in a line break. */
  public String render(Deviance deviance) {
    PoolText text = new PoolText(width);
    List<String> lines = new ArrayList<>(text.head(deviance.entered()));
    lines.add("");
    lines.addAll(
        text.wrap(
            "Explained: share of the deviance of passing that a logistic regression on the factor"
                + " explains, with its 95 % interval [ ] from drawing tasks within categories."
                + " By chance: the mean share with labels dealt at random, and perm. p how often"
                + " they explain as much."));
    if (deviance.withoutTraits()) {
      lines.addAll(
          text.wrap(
              "The suite is not here as the run met it: tasks are grouped by category alone."));
    }
    if (!deviance.constant().isEmpty()) {
      lines.addAll(text.wrap("The same for all: " + String.join(", ", deviance.constant()) + "."));
    }
    if (!deviance.conditions().isEmpty()) {
      lines.addAll(
          text.wrap(
              "Conditions of generation that vary, for --factor: %s."
                  .formatted(Text.clean(String.join(", ", deviance.conditions())))));
    }
    for (Measure measure : deviance.outcomes()) {
      lines.add("");
      lines.addAll(measure(measure, text));
    }
    if (deviance.entered().hasSamples()) {
      lines.add("");
      lines.addAll(
          text.wrap(
              "Tasks have several candidates of one method and model. These are not independent:"
                  + " p is too small, perm. p and the random intercept allow for it."));
    }
    return String.join("\n", lines) + "\n";
  }

  private List<String> measure(Measure measure, PoolText text) {
    String name = measure.outcome().label();
    Double nullDeviance = measure.nullDeviance();
    if (measure.unknown() != null || nullDeviance == null) {
      return text.wrap("%s: no figures: %s.".formatted(name, Text.clean(measure.unknown())));
    }
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%s: %d of %d candidates, null deviance %.1f",
            name,
            measure.passes(),
            measure.candidates(),
            nullDeviance));
    if (measure.unmeasured() > 0) {
      lines.addAll(
          text.wrap("Left out, %s: %d.".formatted(unknown(measure), measure.unmeasured())));
    }
    if (measure.factors().isEmpty()) {
      lines.add("No factor varies between them.");
      return lines;
    }
    lines.addAll(single(measure.factors()));
    if (measure.lone() > 0) {
      lines.addAll(
          text.wrap(
              "Intervals do not vary the tasks of %d %s with one task."
                  .formatted(measure.lone(), measure.lone() == 1 ? "category" : "categories")));
    }
    if (measure.joint() != null) lines.addAll(joint(measure.joint(), measure.task(), text));
    measure.factors().forEach(factor -> lines.addAll(remarks(factor, text)));
    return lines;
  }

  /** Why it is not known of some candidates whether they reach the outcome. */
  private static String unknown(Measure measure) {
    return measure.outcome() == Outcome.FASTER ? "not timed" : "not known at the general grade";
  }

  private List<String> single(List<FactorDeviance> factors) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "alone",
            "df",
            "explained",
            "[95 %]",
            "per df",
            "adjusted",
            "χ²",
            "p",
            "by chance",
            "perm. p"));
    for (FactorDeviance each : factors) {
      rows.add(
          List.of(
              Text.clean(each.factor()),
              Integer.toString(each.df()),
              percent(each.explained()),
              interval(each.low(), each.high()),
              percent(each.perDf()),
              percent(each.adjusted()),
              number(each.chi2()),
              probability(each.p()),
              percent(each.permutation().expected()),
              probability(each.permutation().pValue())));
    }
    return lines(rows, Set.of(4, 6));
  }

  /** The lines of a table; where it does not fit, without some columns, which --json has. */
  private List<String> lines(List<List<String>> rows, Set<Integer> dispensable) {
    Grid whole = new Grid("l" + "r".repeat(rows.getFirst().size() - 1), rows);
    if (whole.fits(width)) return whole.lines(width);
    List<List<String>> fewer =
        rows.stream()
            .map(row ->
                IntStream.range(0, row.size())
                    .filter(i -> !dispensable.contains(i))
                    .mapToObj(row::get)
                    .toList())
            .toList();
    return new Grid("l" + "r".repeat(fewer.getFirst().size() - 1), fewer).lines(width);
  }

  private List<String> joint(JointDeviance joint, @Nullable TaskIntercept task, PoolText text) {
    List<String> lines = new ArrayList<>();
    String names = joint.factors().stream().map(Part::factor).collect(Collectors.joining(" + "));
    lines.addAll(
        text.wrap(
            String.format(
                Locale.ROOT,
                "%s: %s %s, df %d, adjusted %s, χ² %s, p %s, AIC %.1f, BIC %.1f.",
                names,
                percent(joint.explained()),
                interval(joint.low(), joint.high()),
                joint.df(),
                percent(joint.adjusted()),
                number(joint.chi2()),
                probability(joint.p()),
                joint.aic(),
                joint.bic())));
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "beyond others",
            "df",
            "Type II",
            "[95 %]",
            "χ²",
            "p",
            "Type III χ²",
            "p",
            "with task p"));
    for (int i = 0; i < joint.factors().size(); i++) {
      rows.add(part(joint.factors().get(i), task == null ? null : task.factors().get(i).test()));
    }
    lines.addAll(lines(rows, Set.of(3)));
    JointDeviance.Interaction both = joint.interaction();
    if (both != null) {
      lines.addAll(
          text.wrap(
              "Interaction of %s and %s: χ² %s, df %d, p %s, %s."
                  .formatted(
                      both.first(),
                      both.second(),
                      number(both.test().chi2()),
                      both.test().df(),
                      probability(both.test().p()),
                      percent(both.test().share()))));
    }
    if (task != null) {
      lines.addAll(
          text.wrap(
              String.format(
                  Locale.ROOT,
                  "With a random intercept for the task: standard deviation %.2f (log odds), %s of"
                      + " the remaining variance lies between tasks, p %s.",
                  task.deviation(),
                  percent(task.share()),
                  probability(task.p()))));
    }
    return lines;
  }

  private static List<String> part(Part part, @Nullable Test withTask) {
    Test two = part.typeTwo();
    Test three = part.typeThree();
    return List.of(
        part.factor(),
        Integer.toString(two.df()),
        percent(two.share()),
        interval(two.low(), two.high()),
        number(two.chi2()),
        probability(two.p()),
        three == null ? "" : number(three.chi2()),
        three == null ? "" : probability(three.p()),
        withTask == null ? UNKNOWN : probability(withTask.p()));
  }

  /** What changes without the levels that solve nothing, and by Firth's likelihood. */
  private static List<String> remarks(FactorDeviance factor, PoolText text) {
    List<String> lines = new ArrayList<>();
    Double without = factor.withoutUnsolved();
    if (without != null) {
      lines.addAll(
          text.wrap(
              "%s explains %s without %s and %s with %s."
                  .formatted(
                      Text.clean(factor.factor()),
                      percent(without),
                      unsolved(factor),
                      percent(factor.explained()),
                      factor.unsolved().size() == 1 ? "it" : "them")));
    }
    FactorDeviance.Penalised firth = factor.firth();
    if (firth != null) {
      lines.addAll(
          text.wrap(
              "%s has a level that never or always passes; by Firth's likelihood it explains %s, χ² %s, p %s."
                  .formatted(
                      Text.clean(factor.factor()),
                      percent(firth.explained()),
                      number(firth.chi2()),
                      probability(firth.p()))));
    }
    return lines;
  }

  private static String unsolved(FactorDeviance factor) {
    List<String> names = factor.unsolved();
    return names.size() == 1
        ? "the level %s, which never passes,".formatted(Text.clean(names.getFirst()))
        : "the %d levels that never pass".formatted(names.size());
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", share * 100);
  }

  private static String interval(@Nullable Double low, @Nullable Double high) {
    if (low == null || high == null) return UNKNOWN;
    return String.format(Locale.ROOT, "[%.1f–%.1f]", low * 100, high * 100);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  /** {@code 0.013}, {@code <0.001}. */
  static String probability(@Nullable Double p) {
    if (p == null) return UNKNOWN;
    return p < 0.001 ? "<0.001" : String.format(Locale.ROOT, "%.3f", p);
  }
}

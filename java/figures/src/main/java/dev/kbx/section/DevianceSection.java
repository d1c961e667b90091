package dev.kbx.section;

import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.Deviance.Measure;
import dev.kbx.analysis.FactorDeviance;
import dev.kbx.analysis.JointDeviance;
import dev.kbx.analysis.JointDeviance.Part;
import dev.kbx.document.Block;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Section;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@link Deviance}: the outcomes, each factor alone and beyond the others, and reservations. */
public final class DevianceSection {
  private final Deviance deviance;
  private final Blocks blocks = new Blocks();

  private DevianceSection(Deviance deviance) {
    this.deviance = deviance;
  }

  /** The tables that there are figures for, then what a reviewer would ask. */
  public static Section of(Deviance deviance) {
    DevianceSection section = new DevianceSection(deviance);
    section.preface();
    section.outcomes();
    section.alone();
    section.joint();
    deviance.outcomes().forEach(section::reservations);
    section.samples();
    return section.blocks.section("deviance", "What explains failure");
  }

  private void preface() {
    if (deviance.withoutTraits()) {
      blocks.note(
          "The suite has changed since the run, or is missing: tasks are grouped by category"
              + " alone.");
    }
    if (!deviance.constant().isEmpty()) {
      blocks.note("The same for all candidates: %s.", String.join(", ", deviance.constant()));
    }
    if (!deviance.conditions().isEmpty()) {
      blocks.note(
          "Conditions of generation that vary, for --factor: %s.",
          String.join(", ", deviance.conditions()));
    }
  }

  private void outcomes() {
    List<Measure> known =
        deviance.outcomes().stream().filter(measure -> measure.nullDeviance() != null).toList();
    for (Measure measure : deviance.outcomes()) {
      if (measure.unknown() != null) {
        blocks.note("%s: no figures: %s.", measure.outcome().label(), measure.unknown());
      }
    }
    if (known.isEmpty()) return;
    blocks.add(
        Block.Table.of(
            "outcomes",
            "Candidates that reach each outcome. Unknown: candidates left out, as they were not"
                + " timed, or not judged at the general grade.",
            List.of(
                outcome(each -> each),
                Column.number("reach it", each -> Cell.count(each.passes())),
                Column.number("candidates", each -> Cell.count(each.candidates())),
                Column.number("unknown", each -> Cell.count(each.unmeasured())),
                Column.number("null deviance", each -> Cell.statistic(each.nullDeviance()))),
            known));
  }

  private interface Of<T> {
    Measure measure(T row);
  }

  private static <T> Column.Of<T> outcome(Of<T> of) {
    return Column.text("outcome", row -> of.measure(row).outcome().label());
  }

  private record Alone(Measure measure, FactorDeviance factor) {}

  private void alone() {
    List<Alone> rows =
        deviance.outcomes().stream()
            .flatMap(each -> each.factors().stream().map(factor -> new Alone(each, factor)))
            .toList();
    if (rows.isEmpty()) {
      if (deviance.outcomes().stream().anyMatch(each -> each.unknown() == null)) {
        blocks.note("No factor varies between the candidates.");
      }
      return;
    }
    blocks.add(
        Block.Table.of(
            "deviance",
            "Share of the deviance of each outcome that a factor alone explains: D² = 1 − D(factor)"
                + " ÷ D(null) of a logistic regression, with its 95 % interval from drawing tasks"
                + " within their categories. Adjusted: McFadden. By chance: the mean share with"
                + " labels dealt at random, and perm. p how often they explain as much.",
            List.of(
                outcome(Alone::measure),
                Column.<Alone>text("factor", row -> row.factor.factor()),
                Column.<Alone>number("df", row -> Cell.count(row.factor.model().df())),
                Column.<Alone>number(
                    "explained",
                    row ->
                        Cell.share(
                            row.factor.model().explained(),
                            row.factor.model().low(),
                            row.factor.model().high())),
                Column.<Alone>number("per df", row -> Cell.share(row.factor.model().perDf()))
                    .optional(),
                Column.<Alone>number("adjusted", row -> Cell.share(row.factor.model().adjusted()))
                    .optional(),
                Column.<Alone>number("χ²", row -> Cell.statistic(row.factor.model().chi2()))
                    .optional(),
                Column.<Alone>number("p", row -> Cell.probability(row.factor.model().p())),
                Column.<Alone>number(
                    "by chance", row -> Cell.share(row.factor.permutation().expected())),
                Column.<Alone>number(
                    "perm. p", row -> Cell.probability(row.factor.permutation().pValue()))),
            rows));
  }

  /** The whole model if {@code part} is null. */
  private record Together(Measure measure, JointDeviance joint, @Nullable Part part, int index) {
    Cell share() {
      return part == null
          ? Cell.share(joint.model().explained(), joint.model().low(), joint.model().high())
          : Cell.share(part.typeTwo().share(), part.typeTwo().low(), part.typeTwo().high());
    }

    int df() {
      return part == null ? joint.model().df() : part.typeTwo().df();
    }

    double chi2() {
      return part == null ? joint.model().chi2() : part.typeTwo().chi2();
    }

    @Nullable Double p() {
      return part == null ? (Double) joint.model().p() : part.typeTwo().p();
    }

    JointDeviance.@Nullable Test typeThree() {
      return part == null ? null : part.typeThree();
    }

    @Nullable Double withTask() {
      Deviance.TaskIntercept task = measure.task();
      return part == null || task == null ? null : task.factors().get(index).test().p();
    }
  }

  private void joint() {
    List<Together> rows = new ArrayList<>();
    for (Measure measure : deviance.outcomes()) {
      JointDeviance joint = measure.joint();
      if (joint == null) continue;
      rows.add(new Together(measure, joint, null, -1));
      for (int i = 0; i < joint.factors().size(); i++) {
        rows.add(new Together(measure, joint, joint.factors().get(i), i));
      }
    }
    if (rows.isEmpty()) return;
    blocks.add(
        Block.Table.of(
            "deviance-joint",
            "What each factor explains beyond the others (Type II), in the model of main effects,"
                + " with 95 % intervals from drawing tasks within their categories. Type III: in"
                + " the model with the interaction. With task p: the Type II test with a random"
                + " intercept for the task.",
            List.of(
                outcome(Together::measure),
                Column.<Together>text(
                    "factor", row -> row.part == null ? "all" : row.part.factor()),
                Column.<Together>number("df", row -> Cell.count(row.df())),
                Column.<Together>number("beyond others", Together::share),
                Column.<Together>number("χ²", row -> Cell.statistic(row.chi2())).optional(),
                Column.<Together>number("p", row -> Cell.probability(row.p())),
                Column.<Together>number(
                        "Type III χ²",
                        row ->
                            Cell.statistic(row.typeThree() == null ? null : row.typeThree().chi2()))
                    .optional(),
                Column.<Together>number(
                        "p",
                        row ->
                            Cell.probability(row.typeThree() == null ? null : row.typeThree().p()))
                    .optional(),
                Column.<Together>number("with task p", row -> Cell.probability(row.withTask()))),
            rows));
  }

  private void reservations(Measure measure) {
    String outcome = measure.outcome().label();
    if (measure.lone() > 0) {
      blocks.note(
          "%s: intervals do not vary the tasks of %d %s with one task.",
          outcome, measure.lone(), measure.lone() == 1 ? "category" : "categories");
    }
    JointDeviance joint = measure.joint();
    if (joint != null) model(outcome, joint, measure.task());
    measure.factors().forEach(factor -> factor(outcome, factor));
  }

  private void model(String outcome, JointDeviance joint, Deviance.@Nullable TaskIntercept task) {
    blocks.note(
        "%s, all factors: adjusted %s, AIC %s, BIC %s.",
        outcome,
        Cell.share(joint.model().adjusted()).text(),
        Cell.statistic(joint.model().aic()).text(),
        Cell.statistic(joint.model().bic()).text());
    JointDeviance.Interaction both = joint.interaction();
    if (both != null) {
      blocks.note(
          "%s, interaction of %s and %s: χ² %s, df %d, p %s, %s.",
          outcome,
          both.first(),
          both.second(),
          Cell.statistic(both.test().chi2()).text(),
          both.test().df(),
          Cell.probability(both.test().p()).text(),
          Cell.share(both.test().share()).text());
    }
    if (task != null) {
      blocks.note(
          "%s, with a random intercept for the task: standard deviation %s (log odds), %s of the"
              + " remaining variance lies between tasks, p %s.",
          outcome,
          Cell.statistic(task.deviation()).text(),
          Cell.share(task.share()).text(),
          Cell.probability(task.p()).text());
    }
  }

  /** What changes without the levels that solve nothing, and by Firth's likelihood. */
  private void factor(String outcome, FactorDeviance factor) {
    String explained = Cell.share(factor.model().explained()).text();
    Double without = factor.withoutUnsolved();
    if (without != null) {
      List<String> names = factor.unsolved();
      boolean one = names.size() == 1;
      blocks.note(
          "%s: %s explains %s without %s and %s with %s.",
          outcome,
          factor.factor(),
          Cell.share(without).text(),
          one
              ? "the level %s, which never passes,".formatted(names.getFirst())
              : "the %d levels that never pass".formatted(names.size()),
          explained,
          one ? "it" : "them");
    }
    FactorDeviance.Penalised firth = factor.firth();
    if (firth != null) {
      blocks.note(
          "%s: %s has a level that never or always passes; by Firth's likelihood it explains %s,"
              + " χ² %s, p %s.",
          outcome,
          factor.factor(),
          Cell.share(firth.explained()).text(),
          Cell.statistic(firth.chi2()).text(),
          Cell.probability(firth.p()).text());
    }
  }

  private void samples() {
    if (!deviance.entered().hasSamples()) return;
    blocks.note(
        "Tasks have several candidates of one method and model. These are not independent: p is too"
            + " small; perm. p and the random intercept allow for it.");
  }
}

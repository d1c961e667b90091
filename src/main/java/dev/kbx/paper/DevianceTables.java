package dev.kbx.paper;

import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.Deviance.Measure;
import dev.kbx.analysis.FactorDeviance;
import dev.kbx.analysis.JointDeviance;
import dev.kbx.analysis.JointDeviance.Test;
import dev.kbx.analysis.TaskIntercept;
import dev.kbx.paper.Tabular.Section;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tables of {@link Deviance}: each factor alone, and beyond the others. */
final class DevianceTables {
  private DevianceTables() {}

  static List<Tabular> of(Deviance deviance) {
    List<List<String>> alone = new ArrayList<>();
    List<List<String>> joint = new ArrayList<>();
    for (Measure measure : deviance.outcomes()) {
      for (FactorDeviance factor : measure.factors()) alone.add(alone(measure, factor));
      joint(joint, measure);
    }
    List<Tabular> tables = new ArrayList<>();
    if (!alone.isEmpty()) {
      tables.add(
          new Tabular(
              "deviance",
              Section.DEVIANCE,
              Captions.deviance()
                  + " Adjusted: McFadden. By chance: the mean share with labels dealt at random,"
                  + " and perm. p how often they explain as much.",
              Tabular.columns(
                  2,
                  List.of(
                      "outcome",
                      "factor",
                      "passes",
                      "df",
                      "explained (%)",
                      "adjusted (%)",
                      "χ²",
                      "p",
                      "by chance (%)",
                      "perm. p")),
              alone));
    }
    if (!joint.isEmpty()) {
      tables.add(
          new Tabular(
              "deviance-joint",
              Section.DEVIANCE,
              "What each factor explains beyond the others (Type II), in the model of main effects,"
                  + " with 95 % intervals from drawing tasks within their categories. With task p:"
                  + " the same test with a random intercept for the task.",
              Tabular.columns(
                  2, List.of("outcome", "factor", "df", "Type II (%)", "χ²", "p", "with task p")),
              joint));
    }
    return tables;
  }

  private static List<String> alone(Measure measure, FactorDeviance factor) {
    return List.of(
        measure.outcome().label(),
        factor.factor(),
        "%d/%d".formatted(measure.passes(), measure.candidates()),
        Integer.toString(factor.df()),
        Numbers.percent(factor.explained(), factor.low(), factor.high()),
        Numbers.percent(factor.adjusted()),
        Numbers.decimal(factor.chi2()),
        Numbers.probability(factor.p()),
        Numbers.percent(factor.permutation().expected()),
        Numbers.probability(factor.permutation().pValue()));
  }

  private static void joint(List<List<String>> rows, Measure measure) {
    JointDeviance joint = measure.joint();
    if (joint == null) return;
    rows.add(
        List.of(
            measure.outcome().label(),
            "all",
            Integer.toString(joint.df()),
            Numbers.percent(joint.explained(), joint.low(), joint.high()),
            Numbers.decimal(joint.chi2()),
            Numbers.probability(joint.p()),
            Numbers.UNKNOWN));
    for (int i = 0; i < joint.factors().size(); i++) {
      Test two = joint.factors().get(i).typeTwo();
      rows.add(
          List.of(
              measure.outcome().label(),
              joint.factors().get(i).factor(),
              Integer.toString(two.df()),
              Numbers.percent(two.share(), two.low(), two.high()),
              Numbers.decimal(two.chi2()),
              Numbers.probability(two.p()),
              withTask(measure.task(), i)));
    }
  }

  private static String withTask(@Nullable TaskIntercept task, int factor) {
    return task == null
        ? Numbers.UNKNOWN
        : Numbers.probability(task.factors().get(factor).test().p());
  }
}

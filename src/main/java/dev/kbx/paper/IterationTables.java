package dev.kbx.paper;

import dev.kbx.analysis.IterationSpeed;
import dev.kbx.analysis.IterationStep;
import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.Iterations.OfMethod;
import dev.kbx.analysis.Iterations.Round;
import dev.kbx.analysis.Means;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tables of {@link Iterations}: rounds, and steps from one to the next. */
final class IterationTables {
  private IterationTables() {}

  private record RoundOf(String method, Round round) {}

  private record StepOf(String method, IterationStep step) {
    String rounds() {
      return step.from() + " to " + step.to();
    }
  }

  private record SpeedOf(StepOf of, IterationSpeed speed) {}

  static List<Table> of(Iterations iterations, Makers makers) {
    List<RoundOf> rounds = new ArrayList<>();
    List<StepOf> steps = new ArrayList<>();
    List<SpeedOf> speeds = new ArrayList<>();
    for (OfMethod method : iterations.methods()) {
      String name = makers.of(method.method(), method.model());
      for (Round round : method.rounds()) rounds.add(new RoundOf(name, round));
      for (IterationStep step : method.steps()) {
        StepOf of = new StepOf(name, step);
        steps.add(of);
        if (step.speed() != null) speeds.add(new SpeedOf(of, step.speed()));
      }
    }
    List<Table> tables = new ArrayList<>(List.of(rounds(rounds, iterations), steps(steps)));
    if (!speeds.isEmpty()) tables.add(speeds(speeds));
    return tables;
  }

  private static Table rounds(List<RoundOf> rows, Iterations iterations) {
    return Table.of(
        "rounds",
        Captions.iterations(iterations.entered().asked()) + " " + Captions.grades(),
        List.of(
            Column.text("method", RoundOf::method),
            Column.number("round", row -> Cell.count(row.round.round())),
            Column.number("candidates", row -> Cell.count(row.round.candidates())),
            Column.number("called", row -> Cell.count(row.round.called())),
            Column.number("correct", row -> Cell.count(row.round.correct())),
            Column.number("general", row -> Cell.count(row.round.general())),
            Column.number(
                "solved", row -> Cell.share(row.round.share(), row.round.low(), row.round.high())),
            Column.number("speedup", row -> mean(row.round.speed()))),
        rows);
  }

  private static Table steps(List<StepOf> rows) {
    return Table.of(
        "steps",
        "What attempts became from one round to the next; p by McNemar's exact test on the"
            + " first attempt at each task. Ended: without a candidate in the later round.",
        List.of(
            Column.text("method", StepOf::method),
            Column.number("step", row -> Cell.text(row.rounds())),
            Column.number("rescued", row -> Cell.count(row.step.rescued())),
            Column.number("regressed", row -> Cell.count(row.step.regressed())),
            Column.number("persistent", row -> Cell.count(row.step.persistent())),
            Column.number("unresolved", row -> Cell.count(row.step.unresolved())),
            Column.number("ended correct", row -> Cell.count(row.step.endedCorrect())),
            Column.number("ended wrong", row -> Cell.count(row.step.endedWrong())),
            Column.number("p", row -> Cell.probability(row.step.mcnemar().pValue()))),
        rows);
  }

  private static Table speeds(List<SpeedOf> rows) {
    return Table.of(
        "step-speeds",
        "Speed of persistent attempts from one round to the next, matched on device, baseline and"
            + " sizes. Same source: its moves are noise, and 95 % of them stay within the floor."
            + " Faster and slower: changed sources beyond the intervals and the floors. Change:"
            + " geometric mean over changed sources, with its 95 % interval.",
        List.of(
            Column.text("method", row -> row.of.method),
            Column.number("step", row -> Cell.text(row.of.rounds())),
            Column.number("matched", row -> Cell.count(row.speed.matched())),
            Column.number("same source", row -> Cell.count(row.speed.identical())),
            Column.number("floor", row -> Cell.share(row.speed.floor())),
            Column.number("faster", row -> Cell.count(row.speed.faster())),
            Column.number("slower", row -> Cell.count(row.speed.slower())),
            Column.number("change", row -> change(row.speed))),
        rows);
  }

  private static Cell mean(@Nullable Means means) {
    return means == null ? Cell.missing() : Cell.ratio(means.geometric(), null, null);
  }

  private static Cell change(IterationSpeed speed) {
    return speed.changed() == null
        ? Cell.missing()
        : Cell.ratio(speed.changed().value(), speed.changed().low(), speed.changed().high());
  }
}

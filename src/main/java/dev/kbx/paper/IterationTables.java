package dev.kbx.paper;

import dev.kbx.analysis.IterationSpeed;
import dev.kbx.analysis.IterationStep;
import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.Iterations.OfMethod;
import dev.kbx.analysis.Iterations.Round;
import dev.kbx.analysis.Means;
import dev.kbx.paper.Tabular.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Tables of {@link Iterations}: rounds, and steps from one to the next. */
final class IterationTables {
  private IterationTables() {}

  static List<Tabular> of(Iterations iterations, Makers makers) {
    List<List<String>> rounds = new ArrayList<>();
    List<List<String>> steps = new ArrayList<>();
    List<List<String>> speeds = new ArrayList<>();
    for (OfMethod method : iterations.methods()) {
      String name = makers.of(method.method(), method.model());
      for (Round round : method.rounds()) rounds.add(round(name, round));
      for (IterationStep step : method.steps()) {
        steps.add(step(name, step));
        if (step.speed() != null) speeds.add(speed(name, step, step.speed()));
      }
    }
    List<Tabular> tables = new ArrayList<>();
    tables.add(
        new Tabular(
            "rounds",
            Section.ITERATIONS,
            Captions.iterations(iterations.entered().asked()) + " " + Captions.grades(),
            Tabular.columns(
                1,
                List.of(
                    "method",
                    "round",
                    "candidates",
                    "called",
                    "correct",
                    "general",
                    "solved (%)",
                    "speedup")),
            rounds));
    tables.add(
        new Tabular(
            "steps",
            Section.ITERATIONS,
            "What attempts became from one round to the next; p by McNemar's exact test on the"
                + " first attempt at each task. Ended: without a candidate in the later round.",
            Tabular.columns(
                1,
                List.of(
                    "method",
                    "step",
                    "rescued",
                    "regressed",
                    "persistent",
                    "unresolved",
                    "ended correct",
                    "ended wrong",
                    "p")),
            steps));
    if (!speeds.isEmpty()) tables.add(speeds(speeds));
    return tables;
  }

  private static Tabular speeds(List<List<String>> rows) {
    return new Tabular(
        "step-speeds",
        Section.ITERATIONS,
        "Speed of persistent attempts from one round to the next, matched on device, baseline and"
            + " sizes. Same source: its moves are noise, and 95 % of them stay within the floor."
            + " Faster and slower: changed sources beyond the intervals and the floors. Change:"
            + " geometric mean over changed sources, with its 95 % interval.",
        Tabular.columns(
            1,
            List.of(
                "method",
                "step",
                "matched",
                "same source",
                "floor (%)",
                "faster",
                "slower",
                "change")),
        rows);
  }

  private static List<String> round(String name, Round round) {
    return List.of(
        name,
        Integer.toString(round.round()),
        Integer.toString(round.candidates()),
        Integer.toString(round.called()),
        Integer.toString(round.correct()),
        round.general() == null ? Numbers.UNKNOWN : round.general().toString(),
        Numbers.percent(round.share(), round.low(), round.high()),
        mean(round.speed()));
  }

  private static String mean(@Nullable Means means) {
    return Numbers.ratio(means == null ? null : (Double) means.geometric(), null, null);
  }

  private static List<String> step(String name, IterationStep step) {
    return List.of(
        name,
        step.from() + " to " + step.to(),
        Integer.toString(step.rescued()),
        Integer.toString(step.regressed()),
        Integer.toString(step.persistent()),
        Integer.toString(step.unresolved()),
        Integer.toString(step.endedCorrect()),
        Integer.toString(step.endedWrong()),
        Numbers.probability(step.mcnemar().pValue()));
  }

  private static List<String> speed(String name, IterationStep step, IterationSpeed speed) {
    return List.of(
        name,
        step.from() + " to " + step.to(),
        Integer.toString(speed.matched()),
        Integer.toString(speed.identical()),
        Numbers.percent(speed.floor()),
        Integer.toString(speed.faster()),
        Integer.toString(speed.slower()),
        Objects.requireNonNullElse(change(speed), Numbers.UNKNOWN));
  }

  private static @Nullable String change(IterationSpeed speed) {
    return speed.changed() == null
        ? null
        : Numbers.ratio(speed.changed().value(), speed.changed().low(), speed.changed().high());
  }
}

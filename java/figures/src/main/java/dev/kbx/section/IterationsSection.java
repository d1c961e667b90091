package dev.kbx.section;

import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.Iterations.OfMethod;
import dev.kbx.analysis.Iterations.Round;
import dev.kbx.analysis.Iterations.Singles;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** {@link Iterations}: rounds, steps from one to the next, and their speeds. */
public final class IterationsSection {
  private final Iterations iterations;
  private final MethodNames names;
  private final boolean several;
  private final Blocks blocks = new Blocks();

  private IterationsSection(Iterations iterations) {
    this.iterations = iterations;
    names = MethodNames.of(iterations.entered());
    several = iterations.methods().size() > 1;
  }

  public static Section of(Iterations iterations) {
    IterationsSection section = new IterationsSection(iterations);
    for (OfMethod each : iterations.methods()) {
      section.blocks.prose(
          "%s: %s at %s.",
          section.name(each),
          Counted.of(each.attempts(), "attempt"),
          each.asked() == null
              ? Counted.of(each.tasks(), "task")
              : "%d of %d tasks asked for".formatted(each.tasks(), each.asked()));
    }
    if (iterations.entered().ofChanges()) {
      section.blocks.note(
          "Attempts that stayed as they were are not in the corpus: persistent kernels have no mean"
              + " change.");
    }
    section.rounds();
    section.steps();
    return section.blocks.section("iterations", "Iterations");
  }

  private String name(OfMethod method) {
    return names.of(method.method(), method.model());
  }

  private record RoundOf(OfMethod method, Round round, int number, List<Singles> singles) {
    /** pass@k of single shots, as many as rounds so far. */
    Cell singleShots() {
      return singles.stream()
          .filter(each -> each.k() == number)
          .findFirst()
          .map(each ->
              Cell.text("%s of %d".formatted(Cell.share(each.value()).text(), each.tasks())))
          .orElse(Cell.missing());
    }
  }

  private void rounds() {
    List<RoundOf> rows = new ArrayList<>();
    for (OfMethod method : iterations.methods()) {
      List<Singles> singles = singles(method);
      for (int i = 0; i < method.rounds().size(); i++) {
        rows.add(new RoundOf(method, method.rounds().get(i), i + 1, singles));
      }
    }
    List<Column.Of<RoundOf>> columns = new ArrayList<>();
    if (several) columns.add(Column.text("method", row -> name(row.method)));
    columns.add(Column.number("round", row -> Cell.count(row.round.round())));
    columns.add(
        Column.<RoundOf>number("candidates", row -> Cell.count(row.round.candidates())).optional());
    columns.add(Column.<RoundOf>number("called", row -> Cell.count(row.round.called())).optional());
    columns.add(Column.number("correct", row -> Cell.count(row.round.correct())));
    columns.add(Column.number("general", row -> Cell.count(row.round.general())));
    columns.add(
        Column.number(
            "solved",
            row ->
                row.round.share() == null
                    ? Cell.count(row.round.solved())
                    : Cell.share(row.round.share(), row.round.low(), row.round.high())));
    boolean singles = !iterations.singles().isEmpty();
    if (singles) columns.add(Column.number("single shots", RoundOf::singleShots));
    columns.add(Column.<RoundOf>number("speedup", row -> mean(row.round.speed())).optional());
    blocks.table(
        "rounds",
        Captions.iterations(iterations.entered())
            + " "
            + Captions.grades()
            + (singles
                ? " Single shots: pass@k of samples of the same model, as many as rounds so far."
                : ""),
        columns,
        rows);
  }

  /** Single shots of one method: of the same model, if there are. */
  private List<Singles> singles(OfMethod method) {
    List<Singles> all = iterations.singles();
    if (all.isEmpty()) return all;
    Singles one =
        all.stream()
            .filter(each -> Objects.equals(each.model(), method.model()))
            .findFirst()
            .orElse(all.getFirst());
    return all.stream()
        .filter(each ->
            Objects.equals(each.method(), one.method())
                && Objects.equals(each.model(), one.model()))
        .toList();
  }

  private static Cell mean(Iterations.@Nullable Means means) {
    return means == null ? Cell.missing() : Cell.ratio(means.geometric());
  }

  // ---------------------------------------------------------------- steps

  private record StepOf(OfMethod method, Iterations.Step step) {
    String rounds() {
      return step.from() + " to " + step.to();
    }
  }

  private record SpeedOf(StepOf of, Iterations.Speed speed) {}

  private record Level(StepOf of, String kernels, Iterations.Means means) {}

  private <T> List<Column.Of<T>> steps(Function<T, StepOf> step, List<Column.Of<T>> more) {
    List<Column.Of<T>> columns = new ArrayList<>();
    if (several) columns.add(Column.text("method", row -> name(step.apply(row).method)));
    columns.add(Column.text("step", row -> step.apply(row).rounds()));
    columns.addAll(more);
    return columns;
  }

  private void steps() {
    List<StepOf> all =
        iterations.methods().stream()
            .flatMap(method -> method.steps().stream().map(step -> new StepOf(method, step)))
            .toList();
    blocks.table(
        "steps",
        "What attempts became from one round to the next; p of the exact permutation test over"
            + " tasks, by the share of a task's attempts that are correct: McNemar's with one"
            + " attempt a task. Ended: without a candidate in the later round.",
        steps(
            row -> row,
            List.of(
                Column.number("rescued", row -> Cell.count(row.step.rescued())),
                Column.number("regressed", row -> Cell.count(row.step.regressed())),
                Column.number("persistent", row -> Cell.count(row.step.persistent())),
                Column.number("unresolved", row -> Cell.count(row.step.unresolved())),
                Column.<StepOf>number("ended correct", row -> Cell.count(row.step.endedCorrect()))
                    .optional(),
                Column.<StepOf>number("ended wrong", row -> Cell.count(row.step.endedWrong()))
                    .optional(),
                Column.number("p", row -> Cell.probability(row.step.compared().pValue())))),
        all);
    List<SpeedOf> speeds = new ArrayList<>();
    for (StepOf each : all) {
      if (each.step.speed() != null) speeds.add(new SpeedOf(each, each.step.speed()));
    }
    levels(speeds);
    moves(speeds);
    all.forEach(this::remarks);
  }

  private void levels(List<SpeedOf> speeds) {
    List<Level> levels = new ArrayList<>();
    for (SpeedOf each : speeds) {
      Iterations.Step step = each.of.step;
      level(levels, each.of, "correct, round " + step.from(), each.speed.then());
      level(levels, each.of, "correct, round " + step.to(), each.speed.now());
      level(levels, each.of, "persistent", each.speed.persistent());
      level(levels, each.of, "rescued", each.speed.rescued());
    }
    blocks.table(
        "speed-levels",
        "Means of speedups on both sides of each step.",
        steps(
            Level::of,
            List.of(
                Column.text("of", Level::kernels),
                Column.number("kernels", row -> Cell.count(row.means.candidates())),
                Column.number("geometric", row -> Cell.ratio(row.means.geometric())),
                Column.number("arithmetic", row -> Cell.ratio(row.means.arithmetic())),
                Column.number("median", row -> Cell.ratio(row.means.median())))),
        levels);
  }

  private static void level(
      List<Level> levels, StepOf of, String name, Iterations.@Nullable Means means) {
    if (means != null) levels.add(new Level(of, name, means));
  }

  private void moves(List<SpeedOf> speeds) {
    blocks.table(
        "step-speeds",
        "Speed of persistent attempts from one round to the next, matched on device, baseline and"
            + " sizes. Same source: the same bytes in both rounds; their moves are noise, and 95 %"
            + " of them stay within the floor. Faster and slower: changed sources beyond the"
            + " intervals and the floors. Change: geometric mean over changed sources, with its"
            + " 95 % interval.",
        steps(
            SpeedOf::of,
            List.of(
                Column.number("matched", row -> Cell.count(row.speed.matched())),
                Column.<SpeedOf>number("larger speedup", row -> Cell.count(row.speed.increases()))
                    .optional(),
                Column.number("same source", row -> Cell.count(row.speed.identical())),
                Column.<SpeedOf>number(
                        "larger among them", row -> Cell.count(row.speed.identicalIncreases()))
                    .optional(),
                Column.number("floor", row -> Cell.share(row.speed.floor())),
                Column.number("faster", row -> Cell.count(row.speed.faster())),
                Column.number("slower", row -> Cell.count(row.speed.slower())),
                Column.number("change", row -> change(row.speed)))),
        speeds);
  }

  private static Cell change(Iterations.Speed speed) {
    return speed.changed() == null
        ? Cell.missing()
        : Cell.ratio(speed.changed().value(), speed.changed().low(), speed.changed().high());
  }

  private void remarks(StepOf of) {
    String step = (several ? name(of.method) + ", " : "") + of.rounds();
    if (of.step.notJudged() > 0) {
      blocks.note(
          "%s: left out, as kbx could not judge one of the rounds: %s.",
          step, Counted.of(of.step.notJudged(), "attempt"));
    }
    Iterations.Speed speed = of.step.speed();
    if (speed == null) return;
    Double change = speed.change();
    Double composition = speed.composition();
    if (change != null && composition != null) {
      blocks.note(
          "%s: the geometric mean moves by %s: %s as persistent kernels changed, %s as others are"
              + " correct.",
          step, fine(change * composition), fine(change), fine(composition));
    }
    if (speed.identicalIncreases() > 0) {
      blocks.note(
          "%s: of %s with a larger speedup, %d %s the same source byte by byte.",
          step,
          Counted.of(speed.increases(), "persistent kernel"),
          speed.identicalIncreases(),
          speed.identicalIncreases() == 1 ? "is" : "are");
    }
    if (speed.asPublished() > 0) {
      blocks.note(
          "%s: no changed source can be called faster or slower: published speedups have no"
              + " intervals.",
          step);
    }
    if (speed.unmatched() > 0) {
      blocks.note(
          "%s: not matched, as device, baseline or sizes differ: %d.", step, speed.unmatched());
    }
  }

  private static String fine(double ratio) {
    return Cell.fine(ratio, true).text();
  }
}

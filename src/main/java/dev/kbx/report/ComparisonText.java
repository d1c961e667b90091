package dev.kbx.report;

import dev.kbx.analysis.Comparison;
import dev.kbx.analysis.Comparison.Row;
import dev.kbx.analysis.GeneralRate;
import dev.kbx.analysis.MatchedSpeed;
import dev.kbx.analysis.Portability;
import dev.kbx.analysis.SpeedChange;
import dev.kbx.analysis.SpeedChange.Outcome;
import dev.kbx.analysis.TaskOutcomes;
import dev.kbx.analysis.Transition;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@link Comparison} for a terminal.
 *
 * @param width columns of the terminal
 */
public record ComparisonText(int width) {
  /** Maximum number of listed pairs; if there are more, changed ones come first. */
  private static final int LISTED = 60;

  /** The text, ending in a line break. */
  public String render(Comparison comparison) {
    List<String> lines = new ArrayList<>();
    run(lines, "then", comparison.then(), comparison.judgedThen());
    run(lines, "now ", comparison.now(), comparison.judgedNow());
    changed(lines, comparison);
    lines.add("");
    if (!comparison.candidates().isEmpty()) {
      lines.addAll(table(comparison.candidates()));
      lines.add("");
    }
    tasks(lines, comparison);
    general(lines, comparison.general());
    speed(lines, comparison);
    return String.join("\n", lines) + "\n";
  }

  private void run(List<String> lines, String label, RunInfo run, int judged) {
    String device = Text.clean(run.device().name());
    String uuid = run.device().uuid();
    lines.add(
        Text.cut(
            "%s  %s  %s judged%s  %s%s"
                .formatted(
                    label,
                    run.id(),
                    run.neverEnds() ? judged : judged + " of " + run.candidates(),
                    run.finished() == null && !run.neverEnds() ? ", not finished" : "",
                    device,
                    uuid == null ? "" : " " + Text.clean(uuid)),
            width));
  }

  private void changed(List<String> lines, Comparison comparison) {
    List<String> parts = new ArrayList<>();
    comparison
        .changed()
        .forEach((name, was) ->
            parts.add("%s %s → %s".formatted(name, orNone(was.then()), orNone(was.now()))));
    if (!parts.isEmpty()) add(lines, "changed: " + Text.clean(String.join(", ", parts)));
  }

  private static String orNone(@Nullable String value) {
    return Objects.requireNonNullElse(value, "none");
  }

  private List<String> table(List<Row> rows) {
    List<Row> listed = listed(rows);
    boolean timed = listed.stream().anyMatch(r -> has(r.then().speedup(), r.now().speedup()));
    Grid full = grid(listed, timed, true);
    Grid fitting = full.fits(width) ? full : grid(listed, timed, false);
    List<String> lines = new ArrayList<>(fitting.lines(width));
    int left = rows.size() - listed.size();
    if (left > 0) lines.add("%d more, which changed least, are in --json.".formatted(left));
    return lines;
  }

  private static boolean has(@Nullable Speedup then, @Nullable Speedup now) {
    return then != null || now != null;
  }

  /** All rows, or the first {@link #LISTED} with changed ones before unchanged ones. */
  private static List<Row> listed(List<Row> rows) {
    if (rows.size() <= LISTED) return rows;
    return Stream.concat(
            rows.stream().filter(ComparisonText::changed),
            rows.stream().filter(row -> !changed(row)))
        .limit(LISTED)
        .toList();
  }

  private static boolean changed(Row row) {
    Transition transition = row.transition();
    if (transition == Transition.RESCUED || transition == Transition.REGRESSED) return true;
    SpeedChange speed = row.speed();
    if (speed == null) return false;
    return speed.outcome() == Outcome.FASTER || speed.outcome() == Outcome.SLOWER;
  }

  private static Grid grid(List<Row> rows, boolean timed, boolean intervals) {
    List<List<String>> cells = new ArrayList<>();
    cells.add(
        timed
            ? List.of("candidate", "status", "then", "now", "now ÷ then", "")
            : List.of("candidate", "status", ""));
    for (Row row : rows) {
      String name =
          row.category() + "/" + row.task() + (row.sample() == 0 ? "" : "#" + row.sample());
      String status = status(row.then().status(), row.now().status());
      SpeedChange speed = row.speed();
      String outcome = outcome(row);
      cells.add(
          timed
              ? List.of(
                  Text.clean(name),
                  status,
                  speedup(row.then(), intervals),
                  speedup(row.now(), intervals),
                  speed == null ? "" : change(speed, intervals),
                  outcome)
              : List.of(Text.clean(name), status, outcome));
    }
    return new Grid(timed ? "llrrrl" : "lll", cells);
  }

  private static String status(Status then, Status now) {
    return then == now ? now.label() : then.label() + " → " + now.label();
  }

  private static String speedup(Comparison.Side side, boolean interval) {
    Speedup speedup = side.speedup();
    if (speedup == null) return "";
    return interval
        ? RateText.ratio(speedup.value(), speedup.low(), speedup.high())
        : RateText.ratio(speedup.value());
  }

  private static String change(SpeedChange change, boolean interval) {
    if (change.value() == null || change.low() == null || change.high() == null) return "";
    return interval
        ? RateText.ratio(change.value(), change.low(), change.high())
        : RateText.ratio(change.value());
  }

  /** The change, or why none can be told. */
  private static String outcome(Row row) {
    if (row.transition() == null) return "not judged";
    if (row.transition() != Transition.PERSISTENT) {
      return row.transition() == Transition.UNRESOLVED ? "" : row.transition().label();
    }
    if (row.speed() == null) return "";
    return words(row.speed().outcome());
  }

  private static String words(Outcome outcome) {
    return switch (outcome) {
      case FASTER -> "faster";
      case SLOWER -> "slower";
      case SAME -> "same";
      case OTHER_DEVICE -> "other device";
      case OTHER_BASELINE -> "other baseline";
      case OTHER_SIZES -> "other sizes";
      case AS_PUBLISHED -> "as published";
    };
  }

  private void tasks(List<String> lines, Comparison comparison) {
    TaskOutcomes tasks = comparison.tasks();
    add(
        lines,
        "Tasks judged in both: %d, of them rescued %d, regressed %d, persistent %d, unresolved %d."
            .formatted(
                tasks.compared(),
                tasks.rescued(),
                tasks.regressed(),
                tasks.persistent(),
                tasks.unresolved()));
    count(lines, tasks.notJudged(), "Tasks in both runs that kbx could not judge in one or both");
    count(lines, tasks.onlyThen(), "Tasks only in the first run");
    count(lines, tasks.onlyNow(), "Tasks only in the second run");
    count(
        lines,
        tasks.unevenTries(),
        "Tasks with more candidates in one run than in the other (as many of each are compared)");
    count(lines, comparison.onlyThen(), "Candidates of the first run without a partner");
    count(lines, comparison.onlyNow(), "Candidates of the second run without a partner");
    add(lines, "McNemar, exact: " + mcnemar(tasks));
  }

  private void general(List<String> lines, Comparison.General general) {
    if (general.then() == null && general.now() == null) return;
    add(
        lines,
        "Correct at the general grade: then %s, now %s."
            .formatted(general(general.then()), general(general.now())));
  }

  private static String general(@Nullable GeneralRate rate) {
    if (rate == null || rate.of() == null) return "unknown";
    return "%d of %s".formatted(rate.correct(), Counted.of(rate.of(), "candidate"))
        + RateText.share(rate);
  }

  private void count(List<String> lines, int count, String of) {
    if (count > 0) add(lines, of + ": " + count + ".");
  }

  private static String mcnemar(TaskOutcomes tasks) {
    if (tasks.rescued() + tasks.regressed() == 0) return "no task tells the runs apart.";
    TaskOutcomes.Test test = tasks.mcnemar();
    return "%s, odds ratio rescued ÷ regressed %s [%s–%s]."
        .formatted(
            test.pValue() < 0.001
                ? "p < 0.001"
                : String.format(Locale.ROOT, "p = %.3f", test.pValue()),
            odds(test.oddsRatio()),
            odds(test.low()),
            odds(test.high()));
  }

  private void speed(List<String> lines, Comparison comparison) {
    comparison
        .untimed()
        .forEach((run, why) -> add(lines, "Run %s: %s.".formatted(run, Text.clean(why))));
    for (Outcome why : List.of(Outcome.OTHER_DEVICE, Outcome.OTHER_BASELINE, Outcome.OTHER_SIZES)) {
      long count =
          comparison.candidates().stream()
              .filter(row -> row.speed() != null && row.speed().outcome() == why)
              .count();
      count(lines, Math.toIntExact(count), "Correct in both, not compared: " + words(why));
    }
    MatchedSpeed speed = comparison.speed();
    if (speed == null) {
      if (comparison.untimed().isEmpty()) {
        add(lines, "No candidate is correct in both runs and timed alike.");
      }
      return;
    }
    add(
        lines,
        "Candidates correct in both and timed alike: %d, of them faster %d, slower %d, the same %d."
            .formatted(speed.matched(), speed.faster(), speed.slower(), speed.same()));
    MatchedSpeed.SetMean set = speed.set();
    add(
        lines,
        "Change of a task, speedup now ÷ then: geometric mean over tasks %s."
            .formatted(mean(speed.change())));
    add(
        lines,
        ("Mean over candidates: %s of %d → %s of %d, %s by the change of those in both × %s by"
                + " composition.")
            .formatted(
                RateText.ratio(set.then()),
                set.candidatesThen(),
                RateText.ratio(set.now()),
                set.candidatesNow(),
                RateText.ratio(set.change()),
                RateText.ratio(set.composition())));
    floors(lines, comparison);
  }

  /** One noise floor for each GPU if the run used several. */
  private void floors(List<String> lines, Comparison comparison) {
    String apart = "Faster, slower: the 95 % intervals [ ] do not overlap";
    List<NoiseFloor> floors = comparison.noiseFloors();
    int unknown = comparison.withoutFloor().size();
    if (floors.isEmpty()) {
      add(lines, apart + "; the noise floor is not known ('kbx bench noise').");
    } else if (floors.size() == 1 && unknown == 0) {
      add(lines, apart + " and differ by more than the noise floor, " + floor(floors.getFirst()));
    } else {
      add(lines, apart + " and differ by more than the noise floor of the card:");
      for (NoiseFloor floor : floors) {
        add(lines, Text.clean(floor.device().uuid()) + ": " + floor(floor));
      }
      for (String card : comparison.withoutFloor()) {
        add(lines, Text.clean(card) + ": not known ('kbx bench noise').");
      }
    }
  }

  private static String floor(NoiseFloor floor) {
    return String.format(
        Locale.ROOT, "%.2f %% for sizes from %.2f ms.", floor.ofTwo() * 100, floor.fromMs());
  }

  private static String mean(Portability.Mean mean) {
    return mean.low() == null || mean.high() == null
        ? RateText.ratio(mean.value())
        : RateText.ratio(mean.value(), mean.low(), mean.high());
  }

  private static String odds(@Nullable Double value) {
    return value == null ? "∞" : String.format(Locale.ROOT, "%.2f", value);
  }

  private void add(List<String> lines, String text) {
    lines.addAll(Text.wrap(text, width, Integer.MAX_VALUE));
  }
}

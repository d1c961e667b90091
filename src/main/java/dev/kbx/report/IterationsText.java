package dev.kbx.report;

import dev.kbx.analysis.IterationSpeed;
import dev.kbx.analysis.IterationStep;
import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.Iterations.OfMethod;
import dev.kbx.analysis.Iterations.Round;
import dev.kbx.analysis.Iterations.Singles;
import dev.kbx.analysis.Means;
import dev.kbx.document.Cell;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@link Iterations} for a terminal: rounds, steps between them, and speed.
 *
 * @param width columns of the terminal
 */
public record IterationsText(int width) {
  private static final String UNKNOWN = "–";

  /** The text, ending in a line break. */
  public String render(Iterations iterations) {
    PoolText text = new PoolText(width);
    List<String> lines = new ArrayList<>(text.head(iterations.entered()));
    for (OfMethod method : iterations.methods()) {
      lines.add("");
      lines.addAll(method(method, singles(iterations, method), text));
    }
    return String.join("\n", lines) + "\n";
  }

  /** Single shots of one method: of the same model, if there are. */
  private static List<Singles> singles(Iterations iterations, OfMethod method) {
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

  private List<String> method(OfMethod method, List<Singles> singles, PoolText text) {
    List<String> lines = new ArrayList<>();
    lines.addAll(
        text.wrap(
            "%s: %s at %d of %d tasks asked for. Solved by: correct in this or an earlier round,"
                    .formatted(
                        name(method.method(), method.model()),
                        Counted.of(method.attempts(), "attempt"),
                        method.tasks(),
                        method.asked())
                + " with its 95 % interval [ ]."));
    lines.addAll(rounds(method, singles));
    lines.addAll(steps(method.steps()));
    for (IterationStep step : method.steps()) lines.addAll(remarks(step, text));
    if (!singles.isEmpty()) {
      lines.addAll(
          text.wrap(
              "Single shots: pass@k of the samples of %s, as many as rounds so far."
                  .formatted(singlesOf(singles))));
    }
    return lines;
  }

  private static String singlesOf(List<Singles> singles) {
    Singles first = singles.getFirst();
    return name(first.method(), first.model());
  }

  static String name(@Nullable String method, @Nullable String model) {
    String named =
        Text.clean(
            Stream.of(method, model)
                .filter(Objects::nonNull)
                .reduce((a, b) -> a + ", " + b)
                .orElse(""));
    return named.isEmpty() ? "no method stated" : named;
  }

  private List<String> rounds(OfMethod method, List<Singles> singles) {
    boolean compared = !singles.isEmpty();
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        cells(
            compared,
            "round",
            "candidates",
            "called",
            "correct",
            "general",
            "solved by",
            "[95 %]",
            "single shots"));
    for (int i = 0; i < method.rounds().size(); i++) {
      Round round = method.rounds().get(i);
      rows.add(
          cells(
              compared,
              Integer.toString(round.round()),
              Integer.toString(round.candidates()),
              Integer.toString(round.called()),
              Integer.toString(round.correct()),
              round.general() == null ? UNKNOWN : Integer.toString(round.general()),
              String.format(Locale.ROOT, "%d %.1f %%", round.solved(), round.share() * 100),
              interval(round),
              shots(singles, i + 1)));
    }
    return new Grid("l" + "r".repeat(rows.getFirst().size() - 1), rows).lines(width);
  }

  private static String interval(Round round) {
    if (round.low() == null || round.high() == null) return UNKNOWN;
    return String.format(Locale.ROOT, "[%.0f–%.0f]", round.low() * 100, round.high() * 100);
  }

  private static String shots(List<Singles> singles, int k) {
    if (singles.isEmpty()) return UNKNOWN;
    return singles.stream()
        .filter(each -> each.k() == k)
        .map(each -> String.format(Locale.ROOT, "%.1f %% of %d", each.value() * 100, each.tasks()))
        .findFirst()
        .orElse(UNKNOWN);
  }

  private static List<String> cells(boolean compared, String... all) {
    return compared ? List.of(all) : List.of(all).subList(0, all.length - 1);
  }

  private List<String> steps(List<IterationStep> steps) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "step",
            "rescued",
            "regressed",
            "persistent",
            "unresolved",
            "ended correct",
            "wrong",
            "p"));
    for (IterationStep step : steps) {
      rows.add(
          List.of(
              arrow(step),
              Integer.toString(step.rescued()),
              Integer.toString(step.regressed()),
              Integer.toString(step.persistent()),
              Integer.toString(step.unresolved()),
              Integer.toString(step.endedCorrect()),
              Integer.toString(step.endedWrong()),
              Cell.probability(step.mcnemar().pValue()).text()));
    }
    return new Grid("lrrrrrrr", rows).lines(width);
  }

  private static String arrow(IterationStep step) {
    return "%d → %d".formatted(step.from(), step.to());
  }

  private List<String> remarks(IterationStep step, PoolText text) {
    List<String> lines = new ArrayList<>();
    if (step.notJudged() > 0) {
      lines.addAll(
          text.wrap(
              "%s: left out, as kbx could not judge one of the rounds: %s."
                  .formatted(arrow(step), Counted.of(step.notJudged(), "attempt"))));
    }
    IterationSpeed speed = step.speed();
    if (speed == null) return lines;
    lines.addAll(levels(step, speed));
    if (speed.change() != null && speed.composition() != null) {
      lines.addAll(
          text.wrap(
              "The geometric mean moves by %s: %s as persistent kernels changed, %s as others are"
                      .formatted(
                          ratio(speed.change() * speed.composition()),
                          ratio(speed.change()),
                          ratio(speed.composition()))
                  + " correct."));
    }
    if (speed.matched() > 0) lines.addAll(text.wrap(matched(speed)));
    if (speed.unmatched() > 0) {
      lines.addAll(
          text.wrap(
              "Not matched, as device, baseline or sizes differ: %d."
                  .formatted(speed.unmatched())));
    }
    return lines;
  }

  private List<String> levels(IterationStep step, IterationSpeed speed) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("speed " + arrow(step), "kernels", "geometric", "arithmetic", "median"));
    add(rows, "correct, round " + step.from(), speed.then());
    add(rows, "correct, round " + step.to(), speed.now());
    add(rows, "  persistent", speed.persistent());
    add(rows, "  rescued", speed.rescued());
    return new Grid("lrrrr", rows).lines(width);
  }

  private static void add(List<List<String>> rows, String name, @Nullable Means means) {
    if (means == null) return;
    rows.add(
        List.of(
            name,
            Integer.toString(means.candidates()),
            RateText.ratio(means.geometric()),
            RateText.ratio(means.arithmetic()),
            RateText.ratio(means.median())));
  }

  private static String matched(IterationSpeed speed) {
    StringBuilder line = new StringBuilder();
    line.append(
        "%d of %d persistent kernels have a larger speedup; %d of these are the same source byte"
                .formatted(speed.increases(), speed.matched(), speed.identicalIncreases())
            + " by byte");
    int others = speed.increases() - speed.identicalIncreases();
    if (others > 0) {
      line.append(
          ", %d of the others %s 5 %% or more"
              .formatted(
                  speed.gains().getOrDefault("5%", 0),
                  speed.gains().getOrDefault("5%", 0) == 1 ? "gains" : "gain"));
    }
    line.append('.');
    if (speed.floor() != null) {
      line.append(
          String.format(
              Locale.ROOT,
              " Noise floor, of %s: %.1f %%.",
              Counted.of(speed.identical(), "same source"),
              speed.floor() * 100));
    }
    int changed = speed.matched() - speed.identical();
    if (speed.asPublished() > 0) {
      return line.append(
              " Of %s none can be called faster or slower: published speedups have no intervals."
                  .formatted(Counted.of(changed, "changed source")))
          .toString();
    }
    line.append(
        " Of %s, %d %s faster and %d slower beyond noise."
            .formatted(
                Counted.of(changed, "changed source"),
                speed.faster(),
                speed.faster() == 1 ? "is" : "are",
                speed.slower()));
    return line.toString();
  }

  private static String ratio(double value) {
    return String.format(Locale.ROOT, "%.3f×", value);
  }
}

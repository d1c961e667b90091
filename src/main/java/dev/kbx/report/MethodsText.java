package dev.kbx.report;

import dev.kbx.analysis.Entered;
import dev.kbx.analysis.Maker;
import dev.kbx.analysis.MethodPair;
import dev.kbx.analysis.MethodRates;
import dev.kbx.analysis.MethodRates.Conversion;
import dev.kbx.analysis.MethodRates.OfOutcome;
import dev.kbx.analysis.MethodRates.Sampled;
import dev.kbx.analysis.MethodRates.Share;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.Outcome;
import dev.kbx.analysis.TaskOutcomes;
import dev.kbx.document.Cell;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@link Methods} for a terminal.
 *
 * @param width columns of the terminal
 */
public record MethodsText(int width) {
  private static final String UNKNOWN = "–";

  /** Width of a category's name and of a rate with its interval. */
  private static final int NAME = 24;

  private static final int CELL = 14;

  /** Pairs of an outcome that are listed. */
  private static final int PAIRS = 15;

  /** The text, ending in a line break. */
  public String render(Methods methods) {
    PoolText text = new PoolText(width);
    List<String> lines = new ArrayList<>(text.headWithLetters(methods.entered()));
    lines.add("");
    lines.addAll(text.wrap(basis(methods.entered())));
    for (Methods.Unmeasured unmeasured : methods.unmeasured()) {
      lines.addAll(
          text.wrap(
              "%s: no figures: %s."
                  .formatted(unmeasured.outcome().label(), Text.clean(unmeasured.why()))));
    }
    lines.add("");
    lines.addAll(outcomes(methods.methods()));
    lines.addAll(notJudged(methods.methods(), text));
    lines.add("");
    lines.addAll(categories(methods.methods()));
    lines.addAll(samples(methods.methods(), text));
    lines.addAll(pairs(methods, text));
    lines.addAll(new AblationText(width).lines(methods.ablations()));
    lines.addAll(new SolvedTasksText(width).lines(methods));
    return String.join("\n", lines) + "\n";
  }

  /** Who made what, and the rates of each. */
  List<String> summary(Methods methods) {
    PoolText text = new PoolText(width);
    List<String> lines = new ArrayList<>(text.headWithLetters(methods.entered()));
    lines.add("");
    lines.addAll(text.wrap(basis(methods.entered())));
    lines.addAll(outcomes(methods.methods()));
    return lines;
  }

  private static String basis(Entered entered) {
    return "Rates: percent of all tasks asked for, with the 95 % interval [ ]; a task without a"
        + " candidate counts as not passed."
        + (entered.hasSamples() ? " Of several samples of a task, the share that passes." : "");
  }

  /** Its letter. */
  private static String name(Maker maker, List<MethodRates> methods) {
    return PoolText.letter(methods.stream().map(MethodRates::maker).toList().indexOf(maker));
  }

  private List<String> outcomes(List<MethodRates> methods) {
    if (methods.isEmpty()) return List.of("No candidate was judged.");
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(""));
    for (OfOutcome outcome : methods.getFirst().outcomes()) head.add(outcome.outcome().label());
    head.add("correct ÷ called");
    rows.add(head);
    for (MethodRates each : methods) {
      List<String> row = new ArrayList<>(List.of(name(each.maker(), methods)));
      for (OfOutcome outcome : each.outcomes()) row.add(share(outcome.all()));
      row.add(each.conversion().isEmpty() ? UNKNOWN : conversion(each.conversion().getFirst()));
      rows.add(row);
    }
    return new Grid("l" + "r".repeat(head.size() - 1), rows).lines(width);
  }

  private static List<String> notJudged(List<MethodRates> methods, PoolText text) {
    List<String> counts = new ArrayList<>();
    for (MethodRates each : methods) {
      if (each.notJudged() == 0) continue;
      counts.add(name(each.maker(), methods) + " " + each.notJudged());
    }
    return counts.isEmpty()
        ? List.of()
        : text.wrap(
            "Tasks of which kbx could judge no candidate count as not passed: %s."
                .formatted(String.join(", ", counts)));
  }

  /** {@code 62 % [52–71]}. */
  private static String share(Share share) {
    if (share.share() == null) return UNKNOWN;
    return percent(share.share()) + interval(share.low(), share.high());
  }

  private static String conversion(Conversion conversion) {
    if (conversion.share() == null) return UNKNOWN;
    return "%d/%d %s"
        .formatted(conversion.correct(), conversion.called(), percent(conversion.share()));
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f %%", share * 100);
  }

  private static String interval(@Nullable Double low, @Nullable Double high) {
    if (low == null || high == null) return "";
    return String.format(Locale.ROOT, " [%.0f–%.0f]", low * 100, high * 100);
  }

  /** Correct ones by category, as many methods side by side as fit. */
  private List<String> categories(List<MethodRates> methods) {
    List<String> lines = new ArrayList<>();
    int columns = Math.max(1, (width - NAME) / (CELL + 2));
    int count = methods.size();
    for (int from = 0; from < count; from += columns) {
      if (from > 0) lines.add("");
      lines.addAll(categoryTable(methods, from, Math.min(count, from + columns)));
    }
    return lines;
  }

  private List<String> categoryTable(List<MethodRates> methods, int from, int to) {
    Map<String, List<String>> rows = new LinkedHashMap<>();
    List<String> head = new ArrayList<>(List.of("correct"));
    for (MethodRates each : methods.subList(from, to)) {
      head.add(name(each.maker(), methods));
      OfOutcome outcome = correct(each);
      if (outcome == null) return List.of();
      for (Share share : outcome.categories()) {
        rows.computeIfAbsent(
                String.valueOf(share.category()), _ -> new ArrayList<>(List.of(label(share))))
            .add(share(share));
      }
    }
    List<List<String>> all = new ArrayList<>(List.of(head));
    all.addAll(rows.values());
    return new Grid("l" + "r".repeat(to - from), all).lines(width);
  }

  private static String label(Share share) {
    return Text.cut(Text.clean(share.category()), NAME - 6) + " of " + share.tasks();
  }

  private static @Nullable OfOutcome correct(MethodRates method) {
    return method.outcomes().stream()
        .filter(outcome -> outcome.outcome() == Outcome.CORRECT)
        .findFirst()
        .orElse(null);
  }

  /** pass@k and fast_p@k, where some task has several samples. */
  private List<String> samples(List<MethodRates> methods, PoolText text) {
    Set<String> heads = new LinkedHashSet<>();
    for (MethodRates each : methods) {
      for (Sampled sampled : each.samples()) if (sampled.tasks() > 0) heads.add(head(sampled));
    }
    if (heads.isEmpty()) return List.of();
    List<String> columns = List.copyOf(heads);
    List<String> lines = new ArrayList<>(List.of(""));
    int fit = Math.max(1, (width - CELL) / (CELL + 6));
    for (int from = 0; from < columns.size(); from += fit) {
      List<String> some = columns.subList(from, Math.min(columns.size(), from + fit));
      lines.addAll(sampleTable(methods, some));
    }
    lines.addAll(
        text.wrap(
            "of: the tasks with k samples or more. Figures of different tasks are not"
                + " comparable."));
    return lines;
  }

  private List<String> sampleTable(List<MethodRates> methods, List<String> heads) {
    List<List<String>> rows = new ArrayList<>();
    List<String> first = new ArrayList<>(List.of("best of k"));
    first.addAll(heads);
    rows.add(first);
    for (MethodRates each : methods) {
      Map<String, String> cells = new LinkedHashMap<>();
      for (Sampled sampled : each.samples()) cells.put(head(sampled), sampled(sampled));
      List<String> row = new ArrayList<>(List.of(name(each.maker(), methods)));
      for (String head : heads) row.add(cells.getOrDefault(head, UNKNOWN));
      rows.add(row);
    }
    return new Grid("l" + "r".repeat(heads.size()), rows).lines(width);
  }

  private static String head(Sampled sampled) {
    Double p = sampled.p();
    if (p == null) return "pass@" + sampled.k();
    String number = p == Math.rint(p) ? Long.toString(Math.round(p)) : p.toString();
    return "fast_%s@%d".formatted(number, sampled.k());
  }

  private static String sampled(Sampled sampled) {
    if (sampled.value() == null) return UNKNOWN;
    return "%s%s of %d"
        .formatted(
            percent(sampled.value()), interval(sampled.low(), sampled.high()), sampled.tasks());
  }

  private List<String> pairs(Methods methods, PoolText text) {
    List<MethodRates> all = methods.methods();
    List<MethodPair> correct =
        methods.pairs().stream().filter(pair -> pair.outcome() == Outcome.CORRECT).toList();
    if (correct.isEmpty()) return List.of();
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("correct", "tasks", "only first", "second", "odds ratio", "p", "Holm"));
    for (MethodPair pair : correct.subList(0, Math.min(PAIRS, correct.size()))) {
      rows.add(
          List.of(
              name(pair.first(), all) + " against " + name(pair.second(), all),
              Integer.toString(pair.counts().tasks()),
              Integer.toString(pair.counts().onlyFirst()),
              Integer.toString(pair.counts().onlySecond()),
              odds(pair),
              Cell.probability(pair.mcnemar().pValue()).text(),
              Cell.probability(pair.holm()).text()));
    }
    List<String> lines = new ArrayList<>(List.of(""));
    lines.addAll(new Grid("lrrrrrr", rows).lines(width));
    if (correct.size() > PAIRS) {
      lines.add("… and %d more pairs, in --json".formatted(correct.size() - PAIRS));
    }
    for (MethodPair pair : correct) {
      List<String> apart =
          pair.categories().stream()
              .filter(each -> each.holm() < 0.05)
              .map(each -> Text.clean(each.category()))
              .toList();
      if (apart.isEmpty()) continue;
      lines.addAll(
          text.wrap(
              "%s and %s differ in %s (p < 0.05, Holm over categories)."
                  .formatted(
                      name(pair.first(), all),
                      name(pair.second(), all),
                      String.join(", ", apart))));
    }
    return lines;
  }

  private static String odds(MethodPair pair) {
    return odds(pair.mcnemar());
  }

  /** {@code 2.00 [0.91–4.40]}. */
  static String odds(TaskOutcomes.Test test) {
    Double ratio = test.oddsRatio();
    if (ratio == null) return UNKNOWN;
    Double high = test.high();
    return String.format(
        Locale.ROOT,
        "%.2f [%.2f–%s]",
        ratio,
        test.low(),
        high == null ? "∞" : String.format(Locale.ROOT, "%.2f", high));
  }
}

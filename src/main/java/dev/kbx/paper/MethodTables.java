package dev.kbx.paper;

import dev.kbx.analysis.Maker;
import dev.kbx.analysis.MethodPair;
import dev.kbx.analysis.MethodRates;
import dev.kbx.analysis.MethodRates.Conversion;
import dev.kbx.analysis.MethodRates.OfOutcome;
import dev.kbx.analysis.MethodRates.Sampled;
import dev.kbx.analysis.MethodRates.Share;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.Outcome;
import dev.kbx.paper.Tabular.Section;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Tables of {@link Methods}: rates, categories, samples, pairs. */
final class MethodTables {
  /** Methods beside each other in a table. */
  private static final int ACROSS = 4;

  /** Pairs in a table. */
  private static final int PAIRS = 40;

  private final Methods methods;
  private final Makers makers;
  private final List<Tabular> tables = new ArrayList<>();

  private MethodTables(Methods methods, Makers makers) {
    this.methods = methods;
    this.makers = makers;
  }

  static List<Tabular> of(Methods methods, Makers makers) {
    if (methods.methods().isEmpty()) return List.of();
    MethodTables all = new MethodTables(methods, makers);
    all.rates();
    all.categories();
    all.samples();
    all.pairs();
    return all.tables;
  }

  /** Without a column for what is the same for all. */
  private void rates() {
    List<Maker> all = methods.methods().stream().map(MethodRates::maker).toList();
    boolean models = all.stream().map(Maker::model).distinct().count() > 1;
    String model = all.getFirst().model();
    List<String> heads = new ArrayList<>(List.of("method"));
    if (models) heads.add("model");
    int texts = heads.size();
    heads.add("candidates");
    for (OfOutcome outcome : methods.methods().getFirst().outcomes()) {
      heads.add(outcome.outcome().label() + " (%)");
    }
    heads.add("correct ÷ called (%)");
    List<List<String>> rows = new ArrayList<>();
    for (MethodRates each : methods.methods()) {
      List<String> row = new ArrayList<>();
      row.add(Makers.whole(each.maker().method()));
      if (models) row.add(Makers.whole(each.maker().model()));
      row.add(Integer.toString(each.candidates()));
      for (OfOutcome outcome : each.outcomes()) row.add(share(outcome.all()));
      row.add(
          each.conversion().isEmpty() ? Numbers.UNKNOWN : conversion(each.conversion().getFirst()));
      rows.add(row);
    }
    tables.add(
        new Tabular(
            "rates",
            Section.METHODS,
            "Rates in percent of all %d tasks asked for, with 95 %% intervals. %s%s"
                .formatted(
                    methods.entered().asked(),
                    Captions.rates(),
                    models || model == null ? "" : " All by model " + model + "."),
            Tabular.columns(texts, heads),
            rows));
  }

  private static String share(Share share) {
    return Numbers.percent(share.share(), share.low(), share.high());
  }

  private static String conversion(Conversion conversion) {
    return Numbers.percent(conversion.share(), conversion.low(), conversion.high());
  }

  private void categories() {
    List<MethodRates> all =
        methods.methods().stream().filter(each -> !correct(each).isEmpty()).toList();
    List<List<MethodRates>> parts = Chunks.of(all, ACROSS);
    for (int i = 0; i < parts.size(); i++) {
      tables.add(categories(parts.get(i), Chunks.id("categories", i, parts.size())));
    }
  }

  private Tabular categories(List<MethodRates> some, String id) {
    List<String> heads = new ArrayList<>(List.of("category", "tasks"));
    Map<String, List<String>> rows = new LinkedHashMap<>();
    for (MethodRates each : some) {
      heads.add(makers.of(each.maker()));
      for (Share share : correct(each)) {
        String category = Objects.requireNonNullElse(share.category(), "");
        rows.computeIfAbsent(category, _ -> new ArrayList<>(List.of(category, share.tasks() + "")))
            .add(share(share));
      }
    }
    return new Tabular(
        id,
        Section.METHODS,
        "Correct by category, in percent of its tasks, with 95 % intervals.",
        Tabular.columns(1, heads),
        List.copyOf(rows.values()));
  }

  /** Its shares of correct ones by category; empty if that was not measured. */
  private static List<Share> correct(MethodRates method) {
    return method.outcomes().stream()
        .filter(outcome -> outcome.outcome() == Outcome.CORRECT)
        .findFirst()
        .map(OfOutcome::categories)
        .orElse(List.of());
  }

  /** pass@k and fast_p@k, where some task has several samples. */
  private void samples() {
    if (!methods.entered().hasSamples()) return;
    Set<String> heads = new LinkedHashSet<>();
    for (MethodRates each : methods.methods()) {
      for (Sampled sampled : each.samples()) if (sampled.tasks() > 0) heads.add(head(sampled));
    }
    List<List<String>> rows = new ArrayList<>();
    for (MethodRates each : methods.methods()) {
      Map<String, String> cells = new LinkedHashMap<>();
      for (Sampled sampled : each.samples()) cells.put(head(sampled), sampled(sampled));
      List<String> row = new ArrayList<>(List.of(makers.of(each.maker())));
      for (String head : heads) row.add(cells.getOrDefault(head, Numbers.UNKNOWN));
      rows.add(row);
    }
    if (heads.isEmpty()) return;
    List<String> all = new ArrayList<>(List.of("best of k"));
    all.addAll(heads);
    tables.add(
        new Tabular(
            "samples",
            Section.METHODS,
            "The chance in percent that the best of k samples is correct (pass@k), and more than p"
                + " times as fast as the baseline (fast_p@k), with 95 % intervals by bootstrap over"
                + " tasks. Behind the slash: the tasks with k samples or more.",
            Tabular.columns(1, all),
            rows));
  }

  private static String head(Sampled sampled) {
    return sampled.p() == null
        ? "pass@" + sampled.k()
        : "fast_%s@%d".formatted(Axes.number(sampled.p()), sampled.k());
  }

  private static String sampled(Sampled sampled) {
    if (sampled.value() == null) return Numbers.UNKNOWN;
    return "%s / %d"
        .formatted(
            Numbers.percent(sampled.value(), sampled.low(), sampled.high()), sampled.tasks());
  }

  private void pairs() {
    List<MethodPair> correct =
        methods.pairs().stream().filter(pair -> pair.outcome() == Outcome.CORRECT).toList();
    int count = correct.size();
    List<MethodPair> shown = count <= PAIRS ? correct : clearest(correct);
    List<List<String>> rows = new ArrayList<>();
    for (MethodPair pair : shown) {
      rows.add(
          List.of(
              makers.of(pair.first()),
              makers.of(pair.second()),
              pair.counts().tasks() + "",
              pair.counts().onlyFirst() + "",
              pair.counts().onlySecond() + "",
              odds(pair),
              Numbers.probability(pair.mcnemar().pValue()),
              Numbers.probability(pair.holm())));
    }
    if (rows.isEmpty()) return;
    tables.add(
        new Tabular(
            "pairs",
            Section.METHODS,
            "Two methods on the tasks that both have, by McNemar's exact test on correct first"
                + " samples. Holm: p corrected for all pairs."
                + (count > rows.size()
                    ? " The %d of %d pairs with the smallest p.".formatted(rows.size(), count)
                    : ""),
            Tabular.columns(
                2,
                List.of(
                    "first",
                    "second",
                    "tasks",
                    "only first",
                    "only second",
                    "odds ratio",
                    "p",
                    "Holm")),
            rows));
  }

  /** Those that differ most clearly. */
  private static List<MethodPair> clearest(List<MethodPair> pairs) {
    return pairs.stream()
        .sorted(Comparator.comparingDouble(pair -> pair.mcnemar().pValue()))
        .limit(PAIRS)
        .toList();
  }

  /** {@code 2.00 [0.43–∞]}: the interval is unbounded where the second is never alone. */
  private static String odds(MethodPair pair) {
    Double ratio = pair.mcnemar().oddsRatio();
    Double high = pair.mcnemar().high();
    if (ratio != null && high == null) {
      return String.format(Locale.ROOT, "%.2f [%.2f–∞]", ratio, pair.mcnemar().low());
    }
    return Numbers.ratio(ratio, pair.mcnemar().low(), high);
  }
}

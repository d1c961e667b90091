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
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Chunks;
import dev.kbx.document.Column;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
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
  private final List<Table> tables = new ArrayList<>();

  private MethodTables(Methods methods, Makers makers) {
    this.methods = methods;
    this.makers = makers;
  }

  static List<Table> of(Methods methods, Makers makers) {
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
    List<Column.Of<MethodRates>> columns = new ArrayList<>();
    columns.add(Column.text("method", each -> Makers.whole(each.maker().method())));
    if (models) columns.add(Column.text("model", each -> Makers.whole(each.maker().model())));
    columns.add(Column.number("candidates", each -> Cell.count(each.candidates())));
    List<OfOutcome> outcomes = methods.methods().getFirst().outcomes();
    for (int i = 0; i < outcomes.size(); i++) {
      int index = i;
      columns.add(
          Column.number(
              outcomes.get(i).outcome().label(), each -> share(each.outcomes().get(index).all())));
    }
    columns.add(Column.number("correct ÷ called", each -> conversion(each.conversion())));
    tables.add(
        Table.of(
            "rates",
            "Rates of all %d tasks asked for, with 95 %% intervals. %s%s"
                .formatted(
                    methods.entered().asked(),
                    Captions.rates(),
                    models || model == null ? "" : " All by model " + model + "."),
            columns,
            methods.methods()));
  }

  private static Cell share(Share share) {
    return Cell.share(share.share(), share.low(), share.high());
  }

  private static Cell conversion(List<Conversion> conversions) {
    if (conversions.isEmpty()) return Cell.missing();
    Conversion all = conversions.getFirst();
    return Cell.share(all.share(), all.low(), all.high());
  }

  private void categories() {
    List<MethodRates> all =
        methods.methods().stream().filter(each -> !correct(each).isEmpty()).toList();
    List<List<MethodRates>> parts = Chunks.of(all, ACROSS);
    for (int i = 0; i < parts.size(); i++) {
      tables.add(categories(parts.get(i), Chunks.id("categories", i, parts.size())));
    }
  }

  private Table categories(List<MethodRates> some, String id) {
    List<Column> columns =
        new ArrayList<>(List.of(Column.text("category"), Column.number("tasks")));
    Map<String, List<Cell>> rows = new LinkedHashMap<>();
    for (MethodRates each : some) {
      columns.add(Column.number(makers.of(each.maker())));
      for (Share share : correct(each)) {
        String category = Objects.requireNonNullElse(share.category(), "");
        rows.computeIfAbsent(
                category,
                _ -> new ArrayList<>(List.of(Cell.text(category), Cell.count(share.tasks()))))
            .add(share(share));
      }
    }
    return new Table(
        id,
        "Correct by category: share of its tasks, with 95 % intervals.",
        columns,
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
    if (heads.isEmpty()) return;
    List<Column.Of<MethodRates>> columns = new ArrayList<>();
    columns.add(Column.text("best of k", each -> makers.of(each.maker())));
    for (String head : heads) columns.add(Column.number(head, each -> sampled(each, head)));
    tables.add(
        Table.of(
            "samples",
            "The chance that the best of k samples is correct (pass@k), and more than p"
                + " times as fast as the baseline (fast_p@k), with 95 % intervals by bootstrap over"
                + " tasks. Behind the slash: the tasks with k samples or more.",
            columns,
            methods.methods()));
  }

  private static String head(Sampled sampled) {
    return sampled.p() == null
        ? "pass@" + sampled.k()
        : "fast_%s@%d".formatted(Axes.number(sampled.p()), sampled.k());
  }

  private static Cell sampled(MethodRates method, String head) {
    return method.samples().stream()
        .filter(each -> head(each).equals(head) && each.value() != null)
        .reduce((_, last) -> last)
        .map(MethodTables::sampled)
        .orElse(Cell.missing());
  }

  private static Cell sampled(Sampled each) {
    Cell share = Cell.share(each.value(), each.low(), each.high());
    return Cell.text(share.text() + " / " + each.tasks());
  }

  private void pairs() {
    List<MethodPair> correct =
        methods.pairs().stream().filter(pair -> pair.outcome() == Outcome.CORRECT).toList();
    int count = correct.size();
    List<MethodPair> shown = count <= PAIRS ? correct : clearest(correct);
    if (shown.isEmpty()) return;
    tables.add(
        Table.of(
            "pairs",
            "Two methods on the tasks that both have, by McNemar's exact test on correct first"
                + " samples. Holm: p corrected for all pairs."
                + (count > shown.size()
                    ? " The %d of %d pairs with the smallest p.".formatted(shown.size(), count)
                    : ""),
            List.of(
                Column.text("first", pair -> makers.of(pair.first())),
                Column.text("second", pair -> makers.of(pair.second())),
                Column.number("tasks", pair -> Cell.count(pair.counts().tasks())),
                Column.number("only first", pair -> Cell.count(pair.counts().onlyFirst())),
                Column.number("only second", pair -> Cell.count(pair.counts().onlySecond())),
                Column.number("odds ratio", MethodTables::odds),
                Column.number("p", pair -> Cell.probability(pair.mcnemar().pValue())),
                Column.number("Holm", pair -> Cell.probability(pair.holm()))),
            shown));
  }

  /** Those that differ most clearly. */
  private static List<MethodPair> clearest(List<MethodPair> pairs) {
    return pairs.stream()
        .sorted(Comparator.comparingDouble(pair -> pair.mcnemar().pValue()))
        .limit(PAIRS)
        .toList();
  }

  /** The interval is unbounded where the second is never alone. */
  private static Cell odds(MethodPair pair) {
    Double high = pair.mcnemar().high();
    return Cell.odds(
        pair.mcnemar().oddsRatio(),
        pair.mcnemar().low(),
        high == null ? (Double) Double.POSITIVE_INFINITY : high);
  }
}

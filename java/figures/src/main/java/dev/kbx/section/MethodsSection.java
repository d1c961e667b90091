package dev.kbx.section;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.Ablation;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.MethodPair;
import dev.kbx.analysis.MethodRates;
import dev.kbx.analysis.MethodRates.Conversion;
import dev.kbx.analysis.MethodRates.OfOutcome;
import dev.kbx.analysis.MethodRates.Sampled;
import dev.kbx.analysis.MethodRates.Share;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.Outcome;
import dev.kbx.analysis.PairedTasks;
import dev.kbx.analysis.Ranking;
import dev.kbx.analysis.SetSpeedup;
import dev.kbx.analysis.SolvedTasks.Group;
import dev.kbx.analysis.TaskOutcomes;
import dev.kbx.document.Axes;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Section;
import dev.kbx.stats.TaskMean;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** {@link Methods}: rates, categories, samples, pairs, conditions, who solves what. */
public final class MethodsSection {
  /** Pairs that are listed: the clearest. */
  private static final int PAIRS = 20;

  /** Names of tasks that are listed. */
  private static final int NAMES = 12;

  /** Categories that differ. */
  private static final double APART = 0.05;

  /** Before k in the head of a column. */
  private static final String ALL_PASS = "pass^";

  private static final String TEST =
      "Ahead: tasks of which it has the larger share correct. p: exact permutation test over tasks"
          + " on these shares, which is McNemar's with one sample a task; the odds ratio is for one"
          + " sample a task.";

  private final Methods methods;
  private final MethodNames names;
  private final Blocks blocks = new Blocks();

  private MethodsSection(Methods methods) {
    this.methods = methods;
    names = MethodNames.of(methods.entered());
  }

  /** All that is known of the methods. */
  public static Section of(Methods methods) {
    MethodsSection section = new MethodsSection(methods);
    if (methods.methods().isEmpty()) {
      section.blocks.prose("No candidate was judged.");
    } else {
      section.unmeasured();
      if (methods.methods().stream().anyMatch(each -> !each.outcomes().isEmpty())) {
        section.blocks.add(section.rates());
      }
      section.notJudged();
      section.blocks.addAll(
          section.categories(
              "categories",
              "Correct by category, of the tasks that each tried, with 95 % intervals. Tasks tried:"
                  + " the most that one tried, of those asked for.",
              methods.methods(),
              MethodsSection::share));
      section.samples();
      section.pairs();
      section.ablations();
      section.solved();
    }
    return section.blocks.section("methods", "Methods and models");
  }

  /**
   * Shares of correct candidates by category at a glance, without intervals.
   *
   * @param order of the columns; of methods that are not in it there are none
   */
  public static Section where(Methods methods, Ranking order) {
    List<MethodRates> ranked =
        order.places().stream()
            .flatMap(place ->
                methods.methods().stream().filter(each -> each.maker().equals(place.maker())))
            .toList();
    MethodsSection section = new MethodsSection(methods);
    return new Section(
        "where",
        "Where",
        section.categories(
            "where",
            "Correct by category, of the tasks that each tried. Tasks tried: the most that one"
                + " tried, of those asked for.",
            ranked,
            share -> Cell.share(share.share())));
  }

  private void unmeasured() {
    Map<String, List<String>> outcomes = new LinkedHashMap<>();
    for (Methods.Unmeasured each : methods.unmeasured()) {
      outcomes.computeIfAbsent(each.why(), _ -> new ArrayList<>()).add(each.outcome().label());
    }
    outcomes.forEach(
        (why, labels) -> blocks.note("%s: no figures: %s.", String.join(", ", labels), why));
  }

  private Table rates() {
    List<MethodAndModel> all = methods.methods().stream().map(MethodRates::maker).toList();
    boolean models = all.stream().map(MethodAndModel::model).distinct().count() > 1;
    String model = all.getFirst().model();
    List<Column.Of<MethodRates>> columns = new ArrayList<>();
    columns.add(
        new Column.Of<>(
            Column.text("method"),
            each -> Cell.link(Cell.text(names.of(each.maker())), Filters.of(each.maker()))));
    columns.add(
        Column.<MethodRates>number("candidates", each -> Cell.count(each.candidates())).optional());
    columns.add(
        Column.number("tasks tried", each -> Cell.part(each.tasks(), methods.entered().asked())));
    List<OfOutcome> outcomes = methods.methods().getFirst().outcomes();
    for (int i = 0; i < outcomes.size(); i++) {
      int index = i;
      columns.add(
          Column.number(
              outcomes.get(i).outcome().label(), each -> share(each.outcomes().get(index).all())));
    }
    columns.add(Column.number("correct ÷ called", each -> conversion(each.conversion())));
    boolean timed = methods.methods().stream().anyMatch(each -> each.speedup() != null);
    if (timed) columns.add(Column.number("speedup", each -> speedup(each.speedup())));
    return Table.of(
        "rates",
        "Rates of the tasks that each tried, with 95 %% intervals. %s%s"
            .formatted(
                timed ? Captions.rates() + " " + Captions.speedup() : Captions.rates(),
                models || model == null ? "" : " All by model " + model + "."),
        columns,
        methods.methods());
  }

  static Cell share(Share share) {
    return Cell.share(share.share(), share.low(), share.high());
  }

  private static Cell conversion(List<Conversion> conversions) {
    if (conversions.isEmpty()) return Cell.missing();
    Conversion all = conversions.getFirst();
    if (all.share() == null) return Cell.missing();
    return Cell.rate(all.correct(), all.called(), all.share(), all.low(), all.high());
  }

  static Cell speedup(@Nullable SetSpeedup speedup) {
    return speedup == null
        ? Cell.missing()
        : Cell.ratio(speedup.geometricMean(), speedup.low(), speedup.high());
  }

  private void notJudged() {
    String counts =
        methods.methods().stream()
            .filter(each -> each.notJudged() > 0)
            .map(each -> names.of(each.maker()) + " " + each.notJudged())
            .collect(joining(", "));
    if (counts.isEmpty()) return;
    blocks.note("Tasks of which kbx could judge no candidate, which are not counted: %s.", counts);
  }

  private List<Table> categories(
      String id, String caption, List<MethodRates> shown, Function<Share, Cell> cell) {
    List<Column> columns = new ArrayList<>(List.of(Column.text("category")));
    Map<String, Cell> tried = tried();
    Map<String, List<Cell>> rows = new LinkedHashMap<>();
    tried.keySet().forEach(each -> rows.put(each, new ArrayList<>(List.of(Cell.text(each)))));
    for (MethodRates each : shown) {
      columns.add(Column.number(names.of(each.maker())));
      for (Share share : correct(each)) {
        String category = String.valueOf(share.category());
        List<Cell> row = rows.get(category);
        if (row == null) continue;
        row.add(
            share.tasks() == 0
                ? Cell.missing()
                : Cell.link(cell.apply(share), Filters.of(each.maker(), "category", category)));
      }
    }
    if (rows.isEmpty() || shown.isEmpty()) return List.of();
    columns.add(Column.number("tasks tried"));
    rows.forEach((category, row) -> row.add(tried.get(category)));
    return List.of(new Table(id, caption, columns, List.copyOf(rows.values())));
  }

  /** Of each category that somebody tried, how many of its tasks one tried at most. */
  private Map<String, Cell> tried() {
    Map<String, Integer> most = new TreeMap<>();
    Map<String, Integer> asked = new TreeMap<>();
    for (MethodRates each : methods.methods()) {
      for (Share share : correct(each)) {
        if (share.tasks() == 0) continue;
        String category = String.valueOf(share.category());
        most.merge(category, share.tasks(), Math::max);
        asked.put(category, share.asked());
      }
    }
    Map<String, Cell> tried = new LinkedHashMap<>();
    asked.forEach(
        (category, all) -> tried.put(category, Cell.part(most.getOrDefault(category, 0), all)));
    return tried;
  }

  /** A method's shares of correct candidates by category; empty if that was not measured. */
  private static List<Share> correct(MethodRates method) {
    return method.outcomes().stream()
        .filter(outcome -> outcome.outcome() == Outcome.CORRECT)
        .findFirst()
        .map(OfOutcome::categories)
        .orElse(List.of());
  }

  /** pass@k, pass^k and fast_p@k, where some task has several samples. */
  private void samples() {
    Set<String> heads = new LinkedHashSet<>();
    for (MethodRates each : methods.methods()) {
      for (Sampled sampled : each.samples()) {
        if (sampled.tasks() == 0) continue;
        heads.add(head(sampled));
        if (sampled.p() == null && sampled.k() > 1) heads.add(ALL_PASS + sampled.k());
      }
    }
    List<Column.Of<MethodRates>> columns = new ArrayList<>();
    columns.add(Column.text("best of k", each -> names.of(each.maker())));
    for (String head : heads) columns.add(Column.number(head, each -> sampled(each, head)));
    if (heads.isEmpty()) return;
    blocks.table(
        "samples",
        "The chance that the best of k samples is correct (pass@k), that all of them are (pass^k),"
            + " and that the best is more than p times as fast as the baseline (fast_p@k), with 95"
            + " % intervals by bootstrap over tasks. Behind the slash: the tasks with k samples or"
            + " more; figures of different tasks are not comparable.",
        columns,
        methods.methods());
  }

  private static String head(Sampled sampled) {
    return sampled.p() == null
        ? "pass@" + sampled.k()
        : "fast_%s@%d".formatted(Axes.number(sampled.p()), sampled.k());
  }

  private static Cell sampled(MethodRates method, String head) {
    for (Sampled each : method.samples().reversed()) {
      TaskMean all = each.allPass();
      if (all == null) continue;
      if (head(each).equals(head)) {
        return of(Cell.share(each.value(), each.low(), each.high()), each);
      }
      if (each.p() == null && head.equals(ALL_PASS + each.k())) {
        return of(Cell.share(all.value(), all.low(), all.high()), each);
      }
    }
    return Cell.missing();
  }

  private static Cell of(Cell share, Sampled sampled) {
    return Cell.text(share.text() + " / " + sampled.tasks());
  }

  private void pairs() {
    List<MethodPair> correct =
        methods.pairs().stream()
            .filter(pair -> pair.outcome() == Outcome.CORRECT)
            .sorted(Comparator.comparingDouble(pair -> pair.compared().pValue()))
            .toList();
    List<Column.Of<MethodPair>> columns = new ArrayList<>();
    columns.add(Column.text("first", pair -> names.of(pair.first())));
    columns.add(Column.text("second", pair -> names.of(pair.second())));
    columns.addAll(compared(MethodPair::compared, MethodPair::holm));
    blocks.first(
        PAIRS,
        "pairs",
        "Two methods on the tasks that both have, by correct samples. %s Holm: p corrected for all pairs, their categories and conditions. The clearest first."
            .formatted(TEST),
        columns,
        correct);
    for (MethodPair pair : correct) {
      String apart =
          pair.categories().stream()
              .filter(each -> each.holm() < APART)
              .map(MethodPair.OfCategory::category)
              .collect(joining(", "));
      if (!apart.isEmpty()) {
        blocks.note(
            "%s and %s differ in %s (p < 0.05, Holm over all pairs, categories and conditions).",
            names.of(pair.first()), names.of(pair.second()), apart);
      }
      Double error = pair.compared().error();
      if (error != null) {
        blocks.note(
            "%s and %s: p is of random permutations, as tasks have many different numbers of"
                + " samples; its standard error is %s.",
            names.of(pair.first()), names.of(pair.second()), Cell.probability(error).text());
      }
    }
  }

  /** What pairs and conditions have in common. */
  private static <T> List<Column.Of<T>> compared(
      Function<T, PairedTasks> of, ToDoubleFunction<T> holm) {
    return List.of(
        Column.<T>number("tasks", row -> Cell.count(of.apply(row).tasks())).optional(),
        Column.number("first ahead", row -> Cell.count(of.apply(row).firstAhead())),
        Column.number("second ahead", row -> Cell.count(of.apply(row).secondAhead())),
        Column.<T>number("odds ratio", row -> odds(of.apply(row).mcnemar())).optional(),
        Column.<T>number("p", row -> Cell.probability(of.apply(row).pValue())).optional(),
        Column.number("Holm", row -> Cell.probability(holm.applyAsDouble(row))));
  }

  /** The interval is unbounded where the second is never alone. */
  private static Cell odds(TaskOutcomes.@Nullable Test test) {
    if (test == null) return Cell.missing();
    Double high = test.high();
    return Cell.odds(
        test.oddsRatio(), test.low(), high == null ? (Double) Double.POSITIVE_INFINITY : high);
  }

  private void ablations() {
    List<Column.Of<Ablation>> columns = new ArrayList<>();
    columns.add(
        Column.text(
            "condition",
            each ->
                "%s: %s, %s"
                    .formatted(
                        each.condition(),
                        MethodNames.whole(each.first()),
                        MethodNames.whole(each.second()))));
    columns.add(Column.<Ablation>text("model", each -> MethodNames.whole(each.model())).optional());
    columns.addAll(compared(Ablation::compared, Ablation::holm));
    blocks.first(
        PAIRS,
        "conditions",
        "Pairs that differ in one condition alone, on the tasks that both have, by correct samples,"
            + " as the pairs above.",
        columns,
        methods.ablations().stream().filter(each -> each.outcome() == Outcome.CORRECT).toList());
  }

  private void solved() {
    if (methods.solved().isEmpty()) return;
    List<Group> groups = methods.solved().getFirst().groups();
    if (groups.isEmpty()) {
      blocks.note("No task has a candidate of each method.");
      return;
    }
    List<Column.Of<Group>> columns = new ArrayList<>();
    columns.add(Column.text("solved by", Group::name));
    columns.add(Column.number("tasks", each -> Cell.count(each.tasks())));
    columns.add(Column.number("all", each -> Cell.count(each.all())));
    if (methods.methods().size() > 1) {
      columns.add(Column.number("some", each -> Cell.count(each.several())));
      columns.add(Column.number("only one", each -> Cell.count(each.one().size())));
    }
    columns.add(Column.number("nobody", each -> Cell.count(each.none().size())));
    blocks.table(
        "solved",
        "Tasks that have a candidate of each method, by who solves them.",
        columns,
        groups);
    Map<String, Integer> alone = new TreeMap<>();
    groups.stream()
        .flatMap(group -> group.one().stream())
        .forEach(one -> alone.merge(names.of(one.maker()), 1, Integer::sum));
    if (!alone.isEmpty() && methods.methods().size() > 1) {
      blocks.note(
          "Solved by one alone: %s.",
          alone.entrySet().stream()
              .map(each -> each.getKey() + " " + each.getValue())
              .collect(joining(", ")));
    }
    List<String> none = groups.stream().flatMap(group -> group.none().stream()).toList();
    if (!none.isEmpty()) blocks.note("Nobody solves %s.", named(none));
  }

  private static String named(List<String> tasks) {
    String names = String.join(", ", Blocks.first(NAMES, tasks));
    int more = tasks.size() - NAMES;
    return more > 0 ? names + " and %d more".formatted(more) : names;
  }
}

package dev.kbx.analysis;

import dev.kbx.analysis.JointDeviance.Test;
import dev.kbx.stats.BinomialDeviance;
import dev.kbx.stats.Bootstrap;
import dev.kbx.stats.Logistic;
import dev.kbx.stats.RandomIntercept;
import dev.kbx.stats.StratifiedBootstrap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Which factors explain that candidates fail: explained deviance of logistic regressions, for each
 * {@link Outcome}.
 *
 * @param constant factors that do not vary between the counted candidates
 * @param conditions those of generation that vary and were not asked for
 * @param withoutTraits whether tasks are grouped by category alone, as the suite is missing or has
 *     changed since the run
 */
public record Deviance(
    Inclusion entered,
    List<String> constant,
    List<String> conditions,
    boolean withoutTraits,
    List<Measure> outcomes) {
  /** Factors of the joint model, where they vary. Other groupings of tasks repeat the category. */
  private static final Set<String> JOINT =
      Set.of("category", "difficulty", "method", "model", "device");

  private static final int RESAMPLES = 1_000;
  private static final int FEWEST_RESAMPLES = 200;
  private static final int PERMUTATIONS = 999;
  private static final int FEWEST_PERMUTATIONS = 99;

  /** Rows that a permutation test deals out: more rows get fewer permutations. */
  private static final int DEALT = 10_000_000;

  /** Multiplications that all fits to resamples may take, about. */
  private static final double FITTED = 2e8;

  /**
   * One outcome.
   *
   * @param unknown why there are no figures; null if there are
   * @param unmeasured candidates left out, as it is not known whether they reach it
   * @param lone categories with one task: drawing tasks within categories does not vary them
   * @param factors each factor alone, those of tasks first
   * @param joint null if less than two factors vary
   * @param task null if no task has several candidates
   */
  public record Measure(
      Outcome outcome,
      @Nullable String unknown,
      int passes,
      int candidates,
      int unmeasured,
      @Nullable Double nullDeviance,
      int lone,
      List<FactorDeviance> factors,
      @Nullable JointDeviance joint,
      @Nullable TaskIntercept task) {
    static Measure unknown(Outcome outcome, String why) {
      return new Measure(outcome, why, 0, 0, 0, null, 0, List.of(), null, null);
    }
  }

  /** The deviance of all candidates by all factors but conditions of generation. */
  public static Deviance of(SelectedRuns runs) {
    return of(runs, List.of());
  }

  /**
   * The deviance of one outcome, without intervals and models of several factors: a twentieth of
   * the time.
   */
  public static Deviance brief(SelectedRuns runs, Outcome outcome) {
    Pool pool = runs.pool(Pool.Rounds.LAST);
    List<Factor> factors = Factor.of(pool);
    String why = outcome.unmeasuredIn(runs);
    Measure measure =
        why == null ? brief(outcome, pool, varying(factors)) : Measure.unknown(outcome, why);
    return of(pool, factors, Factor.conditions(pool), List.of(), List.of(measure));
  }

  /**
   * The deviance of all candidates of the runs as one set; of several rounds the last one counts.
   *
   * @param wanted names of the factors; none for all but conditions of generation
   * @throws IncomparableRuns if there is no such factor
   */
  public static Deviance of(SelectedRuns runs, List<String> wanted) {
    Pool pool = runs.pool(Pool.Rounds.LAST);
    List<Factor> conditions = Factor.conditions(pool);
    List<Factor> usual = Factor.of(pool);
    List<Factor> known = new ArrayList<>(usual);
    known.addAll(conditions);
    for (String name : wanted) {
      if (known.stream().anyMatch(factor -> factor.name().equals(name))) continue;
      throw new IncomparableRuns(
          "--factor: no factor '%s'; there are %s"
              .formatted(name, String.join(", ", known.stream().map(Factor::name).toList())));
    }
    List<Factor> factors =
        wanted.isEmpty()
            ? usual
            : known.stream().filter(factor -> wanted.contains(factor.name())).toList();
    List<Factor> varying = varying(factors);
    Set<String> joint = wanted.isEmpty() ? JOINT : Set.copyOf(wanted);
    List<Measure> measures =
        Arrays.stream(Outcome.values())
            .parallel()
            .map(outcome -> measure(outcome, runs, pool, varying, joint))
            .toList();
    return of(pool, factors, conditions, wanted, measures);
  }

  private static List<Factor> varying(List<Factor> factors) {
    return factors.stream().filter(Factor::varies).toList();
  }

  private static Deviance of(
      Pool pool,
      List<Factor> factors,
      List<Factor> conditions,
      List<String> wanted,
      List<Measure> measures) {
    return new Deviance(
        pool.entered(),
        factors.stream()
            .filter(factor -> !factor.varies() && factor.isStated())
            .map(Factor::name)
            .toList(),
        conditions.stream()
            .filter(Factor::varies)
            .map(Factor::name)
            .filter(name -> !wanted.contains(name))
            .toList(),
        pool.traits().isEmpty(),
        measures);
  }

  private static Measure measure(
      Outcome outcome, SelectedRuns runs, Pool pool, List<Factor> varying, Set<String> joint) {
    String why = outcome.unmeasuredIn(runs);
    return why == null ? measure(outcome, pool, varying, joint) : Measure.unknown(outcome, why);
  }

  private static Measure measure(
      Outcome outcome, Pool pool, List<Factor> varying, Set<String> together) {
    Singles singles = Singles.of(outcome, pool, varying);
    if (singles.areAlike()) return singles.nothing();
    var bootstrap = new StratifiedBootstrap(singles.trials.strata());
    List<Bootstrap.@Nullable Interval> intervals =
        singles.used.isEmpty()
            ? List.of()
            : bootstrap.intervals(RESAMPLES, drawn -> shares(singles.counts, drawn));
    List<Factor> joint =
        singles.used.stream().filter(factor -> together.contains(factor.name())).toList();
    JointDeviance.Factors model =
        joint.size() < 2 ? null : JointDeviance.Factors.of(joint, singles.trials);
    return singles.measure(
        bootstrap,
        intervals,
        model == null ? null : joint(model, bootstrap),
        model == null || !TaskIntercept.isFor(singles.trials) ? null : TaskIntercept.of(model));
  }

  private static Measure brief(Outcome outcome, Pool pool, List<Factor> varying) {
    Singles singles = Singles.of(outcome, pool, varying);
    if (singles.areAlike()) return singles.nothing();
    return singles.measure(
        new StratifiedBootstrap(singles.trials.strata()),
        Collections.nCopies(singles.used.size(), null),
        null,
        null);
  }

  /** The factors of an outcome, each alone. */
  private record Singles(
      Outcome outcome, int rows, Trials trials, List<Factor> used, List<CellCounts> counts) {
    static Singles of(Outcome outcome, Pool pool, List<Factor> varying) {
      Trials trials = Trials.of(pool.rows(), outcome);
      List<Factor> used = varying.stream().filter(factor -> varies(factor, trials)).toList();
      List<CellCounts> counts =
          used.stream()
              .map(factor ->
                  CellCounts.of(trials, factor.levels().size(), i -> factor.level(trials.row(i))))
              .toList();
      return new Singles(outcome, pool.rows().size(), trials, used, counts);
    }

    /** Whether all candidates pass, or none. */
    boolean areAlike() {
      return trials.passing() == 0 || trials.passing() == trials.count();
    }

    Measure nothing() {
      int unknown = rows - trials.count();
      return Measure.unknown(
          outcome,
          "%d of %d pass%s, nothing to explain"
              .formatted(
                  trials.passing(),
                  trials.count(),
                  unknown == 0 ? "" : " and %d are unknown".formatted(unknown)));
    }

    Measure measure(
        StratifiedBootstrap bootstrap,
        List<Bootstrap.@Nullable Interval> intervals,
        @Nullable JointDeviance joint,
        @Nullable TaskIntercept task) {
      int permutations = Math.clamp(DEALT / trials.count(), FEWEST_PERMUTATIONS, PERMUTATIONS);
      List<FactorDeviance> single = new ArrayList<>();
      for (int i = 0; i < used.size(); i++) {
        single.add(
            FactorDeviance.of(used.get(i), trials, counts.get(i), intervals.get(i), permutations));
      }
      return new Measure(
          outcome,
          null,
          trials.passing(),
          trials.count(),
          rows - trials.count(),
          BinomialDeviance.of(trials.passing(), trials.count()),
          bootstrap.lone(),
          single,
          joint,
          task);
    }
  }

  /** Whether the rows whose outcome is known have two levels or more. */
  private static boolean varies(Factor factor, Trials trials) {
    if (trials.count() == 0) return false;
    int first = factor.level(trials.row(0));
    for (int i = 1; i < trials.count(); i++) {
      if (factor.level(trials.row(i)) != first) return true;
    }
    return false;
  }

  private static double[] shares(List<CellCounts> counts, int[] drawn) {
    double[] shares = new double[counts.size()];
    Arrays.setAll(
        shares,
        i -> {
          double[] passes = new double[counts.get(i).cells()];
          double[] trials = new double[passes.length];
          counts.get(i).sum(drawn, passes, trials);
          return FactorDeviance.share(passes, trials);
        });
    return shares;
  }

  private static JointDeviance joint(JointDeviance.Factors model, StratifiedBootstrap bootstrap) {
    double columns = model.all().columns();
    double models = model.factors().size() + 1.0;
    double each =
        model.counts().cells() * Math.pow(models, 2) * 4 + columns * columns * columns / 2;
    int resamples = (int) Math.clamp(FITTED / (models * 8 * each), FEWEST_RESAMPLES, RESAMPLES);
    JointDeviance.Resamples fits = JointDeviance.Resamples.of(model);
    List<Bootstrap.@Nullable Interval> intervals = bootstrap.intervals(resamples, fits::shares);
    return JointDeviance.of(model, intervals, resamples);
  }

  /**
   * The joint model with a random intercept for the task: tasks differ beyond what the factors say,
   * so that the candidates of one task are not independent. Its tests are those to trust where a
   * task has several candidates.
   *
   * @param deviation standard deviation between tasks, log odds
   * @param share of the remaining variance that lies between tasks, on that scale
   * @param p probability of this deviation if tasks do not differ: half of the χ² one, as 0 is the
   *     end of its range
   * @param factors what the deviance rises by without each
   */
  public record TaskIntercept(double deviation, double share, double p, List<Part> factors) {

    /** A factor's test; shares are those of the null deviance without a random intercept. */
    public record Part(String factor, Test test) {}

    static TaskIntercept of(JointDeviance.Factors joint) {
      CellCounts counts = joint.counts();
      int[] cells = IntStream.range(0, counts.pairs()).map(counts::cell).toArray();
      double[] passes = counts.passes();
      double[] trials = counts.trials();
      int[] tasks = counts.tasks();
      var full = joint.over(cells, -1);
      RandomIntercept fit = RandomIntercept.fit(full, passes, trials, tasks);
      double fixed = Logistic.fit(full, passes, trials).deviance();
      double nullDeviance = BinomialDeviance.ofAll(passes, trials);
      List<Part> parts = new ArrayList<>();
      for (int i = 0; i < joint.factors().size(); i++) {
        var without = joint.over(cells, i);
        double rise =
            RandomIntercept.fit(without, passes, trials, tasks).deviance() - fit.deviance();
        int df = full.rank(trials) - without.rank(trials);
        parts.add(new Part(joint.factors().get(i).name(), Test.of(rise, df, nullDeviance, null)));
      }
      double gained = Math.max(0, fixed - fit.deviance());
      return new TaskIntercept(
          fit.deviation(),
          fit.sharedVariance(),
          gained == 0 ? 1 : BinomialDeviance.pValue(gained, 1) / 2,
          parts);
    }

    /** Whether some task has several candidates: otherwise tasks cannot be told from chance. */
    static boolean isFor(Trials trials) {
      int[] ofTask = new int[trials.taskCount()];
      for (int i = 0; i < trials.count(); i++) ofTask[trials.task(i)]++;
      return Arrays.stream(ofTask).anyMatch(count -> count > 1);
    }
  }
}

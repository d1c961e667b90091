package dev.kbx.stats;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * When something first happens, of observations some of which end before it does: the product-limit
 * estimate of E. L. Kaplan and P. Meier, "Nonparametric Estimation from Incomplete Observations",
 * JASA 53 (1958) 457–481. An observation that ends at a time without the event is censored: it
 * counts up to that time, and the estimate takes it that it would have gone on as those that are
 * still observed.
 *
 * <p>The 95 % interval is Wilson's ({@link Rate}) for the effective number of observations, share ×
 * (1 − share) ÷ Greenwood's variance: K. J. Rothman, "Estimation of confidence limits for the
 * cumulative probability of survival in life table analysis", Journal of Chronic Diseases 31 (1978)
 * 557–560. Before the first censored one that number is the number of observations. Of tasks with
 * several observations, which are not independent, it is a bootstrap over tasks.
 *
 * @param steps times at which an observation has its event or ends, ascending
 */
public record KaplanMeier(List<Step> steps) {
  public KaplanMeier {
    steps = List.copyOf(steps);
  }

  /**
   * One observation.
   *
   * @param time when the event happened, else up to when it was looked for; at least 1
   * @param event whether it happened
   */
  public record Observation(int time, boolean event) {
    public Observation {
      if (time < 1) throw new IllegalArgumentException("not a time: " + time);
    }
  }

  /**
   * The estimate from this time to the next.
   *
   * @param atRisk observations that reach this time without an earlier event
   * @param events of them now
   * @param censored of them that end now without the event
   * @param share of observations whose event has happened, 0 to 1
   * @param low lower end of its 95 % interval
   */
  public record Step(
      int time, int atRisk, int events, int censored, double share, double low, double high) {}

  /**
   * The estimate.
   *
   * @param tasks the observations of each, at least one in all
   */
  public static KaplanMeier of(Collection<List<Observation>> tasks) {
    List<Observation> all = tasks.stream().flatMap(List::stream).toList();
    if (all.isEmpty()) throw new IllegalArgumentException("no observations");
    List<Integer> times = List.copyOf(new TreeSet<>(all.stream().map(Observation::time).toList()));
    boolean single = tasks.stream().allMatch(task -> task.size() <= 1);
    double[][] draws = single ? new double[0][] : draws(List.copyOf(tasks), times);
    List<Step> steps = new ArrayList<>();
    Curve curve = new Curve();
    for (int i = 0; i < times.size(); i++) {
      int time = times.get(i);
      int atRisk = count(all, time, null);
      int events = count(all, time, true);
      curve.step(atRisk, events);
      Bootstrap.Interval interval =
          single ? curve.interval(atRisk) : interval(draws, i, curve.share(), tasks.size());
      int censored = count(all, time, false);
      steps.add(
          new Step(time, atRisk, events, censored, curve.share(), interval.low(), interval.high()));
    }
    return new KaplanMeier(steps);
  }

  /** The first time by which half of all have had the event; null if that many never have. */
  public @Nullable Integer median() {
    for (Step step : steps) if (step.share() >= 0.5) return step.time();
    return null;
  }

  /** Those that reach a time; with {@code event} those that end then, with or without it. */
  private static int count(List<Observation> all, int time, @Nullable Boolean event) {
    int count = 0;
    for (Observation each : all) {
      if (event == null ? each.time() >= time : each.time() == time && each.event() == event) {
        count++;
      }
    }
    return count;
  }

  /** The shares at all times, of each draw of as many tasks as there are. */
  private static double[][] draws(List<List<Observation>> tasks, List<Integer> times) {
    var random = new SplittableRandom(Bootstrap.SEED);
    double[][] draws = new double[times.size()][Bootstrap.RESAMPLES];
    for (int draw = 0; draw < Bootstrap.RESAMPLES; draw++) {
      List<Observation> drawn = new ArrayList<>();
      for (int i = 0; i < tasks.size(); i++) {
        drawn.addAll(tasks.get(Bootstrap.below(tasks.size(), random)));
      }
      Curve curve = new Curve();
      for (int i = 0; i < times.size(); i++) {
        curve.step(count(drawn, times.get(i), null), count(drawn, times.get(i), true));
        draws[i][draw] = curve.share();
      }
    }
    return draws;
  }

  /** Where no draw differs, a task counts as one observation. */
  private static Bootstrap.Interval interval(double[][] draws, int time, double share, int tasks) {
    Bootstrap.Interval interval = Bootstrap.interval(draws[time]);
    return interval.low() < interval.high() ? interval : Rate.interval(share, tasks);
  }

  /** The estimate as time goes on. */
  private static final class Curve {
    private double without = 1;
    private double greenwood;

    void step(int atRisk, int events) {
      if (events == 0) return;
      without *= 1 - (double) events / atRisk;
      greenwood += events / ((double) atRisk * (atRisk - events));
    }

    double share() {
      return 1 - without;
    }

    Bootstrap.Interval interval(int atRisk) {
      boolean end = without == 0 || without == 1;
      double effective = end ? atRisk : (1 - without) / (without * greenwood);
      return Rate.interval(share(), effective);
    }
  }
}

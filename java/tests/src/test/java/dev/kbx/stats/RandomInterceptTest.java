package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Known answers of lme4 1.1-31 in R 4.2.2 for its data set {@code cbpp}: incidence of a disease in
 * 15 herds and 4 periods (M. Lesnoff and others, Preventive Veterinary Medicine 64 (2004) 1–17).
 *
 * <pre>
 * glmer(cbind(incidence, size-incidence) ~ period + (1|herd), cbpp, binomial, nAGQ=q,
 *       control=glmerControl(optimizer="bobyqa", tolPwrss=1e-12, optCtrl=list(rhoend=1e-10)))
 * </pre>
 *
 * With q = 1 it adds binomial coefficients to the likelihood, 370.951319368 for −2 log L; with more
 * its constant is another, so that only differences compare.
 */
class RandomInterceptTest {
  private static final int[] HERD = {
    0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 8, 8, 8, 8,
    9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14
  };
  private static final double[] INCIDENCE = {
    2, 3, 4, 0, 3, 1, 1, 8, 2, 0, 2, 2, 0, 2, 0, 5, 0, 0, 1, 3, 0, 0, 1, 8, 1, 3, 0, 12, 2, 0, 0, 0,
    1, 1, 0, 2, 0, 5, 3, 1, 2, 1, 0, 0, 1, 2, 0, 0, 11, 0, 0, 0, 1, 1, 1, 0
  };
  private static final double[] SIZE = {
    14, 12, 9, 5, 22, 18, 21, 22, 16, 16, 20, 10, 10, 9, 6, 18, 25, 24, 4, 17, 17, 18, 20, 16, 10,
    9, 5, 34, 9, 6, 8, 6, 22, 22, 18, 22, 25, 27, 22, 22, 10, 8, 6, 5, 21, 24, 19, 23, 19, 2, 3, 2,
    19, 15, 15, 15
  };
  private static final int[] PERIOD = {
    0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 1, 2, 3,
    0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3
  };

  private static final Design NONE = Design.intercept(HERD.length);
  private static final Design PERIODS = NONE.with(PERIOD, 4);

  @Test
  void agreesWithGlmer() {
    RandomIntercept fit = RandomIntercept.fit(PERIODS, INCIDENCE, SIZE, HERD, 25);
    double[] expected = {-1.39923046773, -0.991403652643, -1.12781946613, -1.57947070271};
    assertThat(values(fit.coefficients())).containsExactly(expected, within(2e-4));
    assertThat(fit.deviation()).isCloseTo(0.647518472015, within(2e-4));
    RandomIntercept none = RandomIntercept.fit(NONE, INCIDENCE, SIZE, HERD, 25);
    assertThat(none.deviation()).isCloseTo(0.818390006851, within(2e-4));
    assertThat(none.deviance() - fit.deviance())
        .isCloseTo(125.561036315 - 100.010030537, within(1e-5));
  }

  @Test
  void defaultNodesSuffice() {
    RandomIntercept many = RandomIntercept.fit(PERIODS, INCIDENCE, SIZE, HERD, 25);
    RandomIntercept usual = RandomIntercept.fit(PERIODS, INCIDENCE, SIZE, HERD);
    assertThat(usual.deviation()).isCloseTo(many.deviation(), within(1e-3));
    assertThat(usual.deviance()).isCloseTo(many.deviance(), within(1e-3));
  }

  /** The likelihood at glmer's own estimates, as one node has no exact derivatives. */
  @Test
  void oneNodeEqualsLaplace() {
    double[] estimates = {
      -1.39853205917, -0.992332794162, -1.12867223311, -1.58031393903, 0.642261385924
    };
    var laplace = new MarginalLikelihood(PERIODS, INCIDENCE, SIZE, HERD, 1);
    assertThat(laplace.deviance(estimates)).isCloseTo(184.052563743 + 370.951319368, within(1e-6));
  }

  @Test
  void equalGroupsHaveNoDeviation() {
    int[] groups = IntStream.range(0, 40).map(i -> i / 2).toArray();
    double[] passes = IntStream.range(0, 40).mapToDouble(i -> i % 2).toArray();
    double[] trials = new double[40];
    Arrays.fill(trials, 1);
    Design none = Design.intercept(40);
    RandomIntercept fit = RandomIntercept.fit(none, passes, trials, groups);
    assertThat(fit).isEqualTo(fixed(none, passes, trials));
    assertThat(fit.sharedVariance()).isZero();
  }

  /** Any deviation is as likely then, that at which the search begins too. */
  @Test
  void whereFactorsSayEverythingGroupsHaveNoDeviation() {
    int[] groups = {0, 0, 1, 1, 2, 2, 3, 3};
    double[] passes = {1, 1, 0, 0, 1, 1, 0, 0};
    double[] trials = {1, 1, 1, 1, 1, 1, 1, 1};
    Design design = Design.intercept(8).with(new int[] {0, 0, 1, 1, 0, 0, 1, 1}, 2);
    assertThat(RandomIntercept.fit(design, passes, trials, groups))
        .isEqualTo(fixed(design, passes, trials));
  }

  /** A row of 14 trials, and the same trials as rows of one. */
  @Test
  void rowsWithEqualPredictorsAreOne() {
    int[] cells = IntStream.range(0, HERD.length).flatMap(i -> repeated(i, SIZE[i])).toArray();
    double[] passes = new double[cells.length];
    for (int i = 0, of = 0; i < cells.length; i++) {
      of = i > 0 && cells[i] == cells[i - 1] ? of + 1 : 0;
      passes[i] = of < INCIDENCE[cells[i]] ? 1 : 0;
    }
    double[] trials = new double[cells.length];
    Arrays.fill(trials, 1);
    Design design = Design.intercept(cells.length).with(of(PERIOD, cells), 4);
    assertThat(RandomIntercept.fit(design, passes, trials, of(HERD, cells)))
        .isEqualTo(RandomIntercept.fit(PERIODS, INCIDENCE, SIZE, HERD));
    assertThat(Logistic.fit(design, passes, trials))
        .isEqualTo(Logistic.fit(PERIODS, INCIDENCE, SIZE));
  }

  private static IntStream repeated(int value, double times) {
    return IntStream.range(0, (int) times).map(_ -> value);
  }

  private static int[] of(int[] values, int[] cells) {
    return IntStream.of(cells).map(cell -> values[cell]).toArray();
  }

  private static RandomIntercept fixed(Design design, double[] passes, double[] trials) {
    Logistic fit = Logistic.fit(design, passes, trials);
    return new RandomIntercept(fit.coefficients(), 0, fit.deviance());
  }

  /** A deviation of groups that is far from where the search once began, in many groups. */
  @Test
  void manyGroupsReachTheMaximum() {
    int[] groups = IntStream.range(0, 600).map(i -> i / 3).toArray();
    double[] trials = new double[600];
    Arrays.fill(trials, 20);
    double[] passes =
        IntStream.range(0, 600).mapToDouble(i -> 10 + (i / 3 % 5 - 2) + i % 3 - 1).toArray();
    Design design =
        Design.intercept(600).with(IntStream.range(0, 600).map(i -> i % 3).toArray(), 3);
    RandomIntercept fit = RandomIntercept.fit(design, passes, trials, groups);
    var likelihood = new MarginalLikelihood(design, passes, trials, groups, RandomIntercept.NODES);
    double[] at = Arrays.copyOf(values(fit.coefficients()), 4);
    at[3] = fit.deviation();
    double[] gradient = new double[4];
    assertThat(likelihood.deviance(at, gradient)).isEqualTo(fit.deviance());
    assertThat(gradient).containsExactly(new double[4], within(0.05));
  }

  @Test
  void aLevelWithoutAnyPassConverges() {
    double[] passes = INCIDENCE.clone();
    for (int i = 0; i < passes.length; i++) if (PERIOD[i] == 3) passes[i] = 0;
    double[] trials = SIZE.clone();
    for (int i = 0; i < trials.length; i++) if (PERIOD[i] == 3) trials[i] = 0;
    RandomIntercept all = RandomIntercept.fit(PERIODS, passes, SIZE, HERD);
    RandomIntercept three = RandomIntercept.fit(PERIODS, passes, trials, HERD);
    assertThat(all.deviance()).isCloseTo(three.deviance(), within(1e-2));
    assertThat(all.deviation()).isCloseTo(three.deviation(), within(1e-2));
  }

  private static double[] values(List<Double> coefficients) {
    return coefficients.stream().mapToDouble(Double::doubleValue).toArray();
  }
}

package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * Known answers of statsmodels 0.15.0 (scipy 1.17.1) and of R 4.2.2 with car 3.1-1, which agree to
 * ten digits, for the cells below as 156 rows of 0 and 1:
 *
 * <pre>
 * smf.glm("y~C(c)+C(m)+C(k)", d, family=sm.families.Binomial()).fit(tol=1e-13, maxiter=200)
 * options(contrasts=c("contr.sum","contr.poly")); Anova(glm(y~c*m+k, binomial, d), type=3, test="LR")
 * </pre>
 */
class LogisticTest {
  private static final int CELLS = 24;
  private final int[] category = new int[CELLS];
  private final int[] method = new int[CELLS];
  private final int[] model = new int[CELLS];
  private final double[] passes = new double[CELLS];
  private final double[] trials = new double[CELLS];

  LogisticTest() {
    for (int i = 0; i < CELLS; i++) {
      int c = i / 6;
      int m = i / 2 % 3;
      int k = i % 2;
      category[i] = c;
      method[i] = m;
      model[i] = k;
      trials[i] = 5 + (c * 5 + m * 3 + k * 7) % 4;
      passes[i] = Math.min(trials[i], (c * 3 + m * 4 + k * 2 + c * m) % (trials[i] + 1));
    }
  }

  private double deviance(Design design) {
    return Logistic.fit(design, passes, trials).deviance();
  }

  private static Design none() {
    return Design.intercept(CELLS);
  }

  @Test
  void agreesWithStatsmodels() {
    assertThat(deviance(none())).isCloseTo(210.4565930100, within(1e-7));
    assertThat(BinomialDeviance.ofAll(passes, trials)).isCloseTo(210.4565930100, within(1e-9));
    assertThat(deviance(none().with(category, 4))).isCloseTo(202.2911626506, within(1e-7));
    assertThat(deviance(none().with(method, 3))).isCloseTo(209.3434347844, within(1e-7));
    assertThat(deviance(none().with(model, 2))).isCloseTo(207.2219522121, within(1e-7));
    Design two = none().with(category, 4).with(method, 3);
    assertThat(deviance(two)).isCloseTo(200.8752113642, within(1e-7));
    Design joint = two.with(model, 2);
    assertThat(deviance(joint)).isCloseTo(197.7931187005, within(1e-7));
    assertThat(joint.rank(trials)).isEqualTo(7);
  }

  @Test
  void agreesWithTypeThreeOfCar() {
    Design sums = none().withSums(category, 4).withSums(method, 3).withSums(model, 2);
    double full = deviance(sums.withInteraction(category, 4, method, 3));
    assertThat(full).isCloseTo(169.517217278, within(1e-7));
    Design noCategory =
        none().withSums(method, 3).withSums(model, 2).withInteraction(category, 4, method, 3);
    assertThat(deviance(noCategory) - full).isCloseTo(7.26009195026, within(1e-6));
    Design noMethod =
        none().withSums(category, 4).withSums(model, 2).withInteraction(category, 4, method, 3);
    assertThat(deviance(noMethod) - full).isCloseTo(1.46394376793, within(1e-6));
    assertThat(deviance(sums) - full).isCloseTo(28.275901422, within(1e-6));
    assertThat(BinomialDeviance.pValue(7.260091950, 3)).isCloseTo(0.064054, within(1e-6));
    assertThat(BinomialDeviance.pValue(28.275901422, 6)).isCloseTo(8.3361e-05, within(1e-9));
  }

  @Test
  void singleFactorEqualsTheClosedForm() {
    double[] pass = new double[4];
    double[] all = new double[4];
    for (int i = 0; i < CELLS; i++) {
      pass[category[i]] += passes[i];
      all[category[i]] += trials[i];
    }
    assertThat(BinomialDeviance.ofGroups(pass, all)).isCloseTo(202.2911626506, within(1e-9));
  }

  @Test
  void aliasedFactorAddsNothing() {
    int[] half = Arrays.stream(category).map(c -> c / 2).toArray();
    Design design = none().with(category, 4).with(half, 2).with(method, 3);
    assertThat(design.columns()).isEqualTo(7);
    assertThat(design.rank(trials)).isEqualTo(6);
    assertThat(deviance(design)).isCloseTo(200.8752113642, within(1e-7));
  }

  @Test
  void separatedLevelsConverge() {
    double[] none = passes.clone();
    for (int i = 0; i < CELLS; i++) if (category[i] == 0) none[i] = 0;
    double[] pass = new double[4];
    double[] all = new double[4];
    for (int i = 0; i < CELLS; i++) {
      pass[category[i]] += none[i];
      all[category[i]] += trials[i];
    }
    Logistic fit = Logistic.fit(none().with(category, 4), none, trials);
    assertThat(fit.deviance()).isCloseTo(BinomialDeviance.ofGroups(pass, all), within(1e-6));
    Logistic nothing = Logistic.fit(none().with(category, 4), new double[CELLS], trials);
    assertThat(nothing.deviance()).isCloseTo(0, within(1e-6));
  }
}

package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Known answers of R 4.2.2 with brglm2 0.9, {@code glm(cbind(y,n-y)~a+b, binomial,
 * method="brglmFit", type="AS_mean")}, and of scipy 1.17.1 for the penalised likelihood with later
 * coefficients held at 0: {@code optimize.minimize} of l + slogdet(X'WX) / 2 with BFGS.
 */
class FirthTest {
  private static final double[] TRIALS = {6, 6, 7, 5, 6, 8};

  /** The first level of the first factor has none right. */
  private static final double[] SEPARATED = {0, 0, 5, 2, 6, 4};

  private static final Design ONE = Design.intercept(6).with(new int[] {0, 0, 1, 1, 2, 2}, 3);
  private static final Design BOTH = ONE.with(new int[] {0, 1, 0, 1, 0, 1}, 2);

  @Test
  void agreesWithBrglm() {
    Firth fit = Firth.fit(BOTH, new double[] {0, 3, 5, 2, 6, 4}, TRIALS);
    double[] expected = {-0.733133215999, 1.25530772591, 1.86377352969, -0.512070408254};
    assertThat(values(fit.coefficients())).containsExactly(expected, within(1e-4));
    assertThat(fit.deviance()).isCloseTo(45.9670167801, within(1e-4));
    assertThat(fit.penalised()).isCloseTo(-21.1468928436, within(1e-8));
  }

  @Test
  void staysFiniteForALevelWithoutPasses() {
    Firth fit = Firth.fit(BOTH, SEPARATED, TRIALS);
    double[] expected = {-2.6458015983, 3.75361127409, 4.66911440171, -1.80235297495};
    assertThat(values(fit.coefficients())).containsExactly(expected, within(1e-4));
    assertThat(fit.deviance()).isCloseTo(28.8949355, within(1e-4));
    assertThat(Firth.fit(ONE, SEPARATED, TRIALS).penalised())
        .isCloseTo(-16.3342908853, within(1e-8));
  }

  @Test
  void laterCoefficientsCanBeHeldAtZero() {
    assertThat(Firth.fit(ONE, SEPARATED, TRIALS, 1).penalised())
        .isCloseTo(-24.4191664195, within(1e-8));
    Firth noSecond = Firth.fit(BOTH, SEPARATED, TRIALS, 3);
    assertThat(noSecond.penalised()).isCloseTo(-16.1147707309, within(1e-8));
    assertThat(noSecond.coefficients().get(3)).isZero();
  }

  private static double[] values(List<Double> coefficients) {
    return coefficients.stream().mapToDouble(Double::doubleValue).toArray();
  }
}

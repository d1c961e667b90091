package dev.kbx.analysis;

import dev.kbx.stats.BinomialDeviance;
import dev.kbx.stats.Bootstrap;
import org.jspecify.annotations.Nullable;

/**
 * What a logistic model explains of an outcome.
 *
 * @param df number of coefficients beside the intercept that the data can tell
 * @param explained D² = 1 − D ÷ D(null)
 * @param low lower end of its 95 % interval, by drawing tasks within their categories; null without
 *     one
 * @param perDf D² ÷ df; null for several factors together
 * @param adjusted 1 − (D + 2 df) ÷ D(null): 0 on average if the factors are noise
 * @param chi2 likelihood-ratio statistic, D(null) − D
 * @param p its probability if the factors are noise and all rows are independent
 */
public record Explained(
    int df,
    double deviance,
    double explained,
    @Nullable Double low,
    @Nullable Double high,
    @Nullable Double perDf,
    double adjusted,
    double chi2,
    double p,
    double aic,
    double bic) {
  /**
   * A model's figures.
   *
   * @param rows number of rows of 0 and 1
   * @param alone whether the model is of one factor
   */
  static Explained of(
      double deviance,
      double nullDeviance,
      int df,
      double rows,
      boolean alone,
      Bootstrap.@Nullable Interval interval) {
    double share = nullDeviance == 0 ? Double.NaN : Math.max(0, 1 - deviance / nullDeviance);
    double chi2 = Math.max(0, nullDeviance - deviance);
    return new Explained(
        df,
        deviance,
        share,
        interval == null ? null : interval.low(),
        interval == null ? null : interval.high(),
        alone ? (Double) (share / df) : null,
        1 - (deviance + 2.0 * df) / nullDeviance,
        chi2,
        BinomialDeviance.pValue(chi2, df),
        deviance + 2.0 * (df + 1),
        deviance + Math.log(rows) * (df + 1));
  }
}

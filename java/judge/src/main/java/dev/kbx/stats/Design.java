package dev.kbx.stats;

import java.util.Arrays;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.factory.DecompositionFactory_DDRM;
import org.ejml.interfaces.decomposition.SingularValueDecomposition_F64;

/**
 * The design matrix of a regression on factors: one row a cell, one column a coefficient, the first
 * of them the intercept. Rows hold few values, so they are stored without zeros.
 *
 * <p>A factor is given by the level of each row, numbered from 0.
 */
public final class Design {
  /** Singular values below this part of the largest one are 0. */
  private static final double TOLERANCE = 1e-9;

  private final int columns;
  private final int[][] at;
  private final double[][] values;

  private Design(int columns, int[][] at, double[][] values) {
    this.columns = columns;
    this.at = at;
    this.values = values;
  }

  /** The intercept alone. */
  public static Design intercept(int rows) {
    int[][] at = new int[rows][];
    double[][] values = new double[rows][];
    for (int i = 0; i < rows; i++) {
      at[i] = new int[] {0};
      values[i] = new double[] {1};
    }
    return new Design(1, at, values);
  }

  /** This design with a factor in treatment coding: an indicator for each level but the first. */
  public Design with(int[] levels, int count) {
    double[][] contrasts = new double[count][count - 1];
    for (int level = 1; level < count; level++) contrasts[level][level - 1] = 1;
    return and(levels, contrasts);
  }

  /**
   * This design with a factor in sum coding: the coefficients of its levels sum to 0. Type III
   * tests need it.
   */
  public Design withSums(int[] levels, int count) {
    return and(levels, sums(count));
  }

  /** This design with the interaction of two factors in sum coding, without their main effects. */
  public Design withInteraction(int[] first, int firstCount, int[] second, int secondCount) {
    double[][] left = sums(firstCount);
    double[][] right = sums(secondCount);
    double[][] products = new double[firstCount * secondCount][];
    int[] levels = new int[rows()];
    for (int a = 0; a < firstCount; a++) {
      for (int b = 0; b < secondCount; b++) {
        products[a * secondCount + b] = products(left[a], right[b]);
      }
    }
    Arrays.setAll(levels, i -> first[i] * secondCount + second[i]);
    return and(levels, products);
  }

  private static double[] products(double[] left, double[] right) {
    double[] all = new double[left.length * right.length];
    Arrays.setAll(all, i -> left[i / right.length] * right[i % right.length]);
    return all;
  }

  private static double[][] sums(int count) {
    double[][] contrasts = new double[count][count - 1];
    for (int level = 0; level < count - 1; level++) contrasts[level][level] = 1;
    Arrays.fill(contrasts[count - 1], -1);
    return contrasts;
  }

  /** Appends the columns of each row's level. */
  private Design and(int[] levels, double[][] contrasts) {
    int added = contrasts[0].length;
    int[][] moreAt = new int[rows()][];
    double[][] moreValues = new double[rows()][];
    for (int i = 0; i < rows(); i++) {
      double[] contrast = contrasts[levels[i]];
      int used = (int) Arrays.stream(contrast).filter(value -> value != 0).count();
      int[] where = Arrays.copyOf(at[i], at[i].length + used);
      double[] what = Arrays.copyOf(values[i], where.length);
      int next = at[i].length;
      for (int j = 0; j < added; j++) {
        if (contrast[j] == 0) continue;
        where[next] = columns + j;
        what[next++] = contrast[j];
      }
      moreAt[i] = where;
      moreValues[i] = what;
    }
    return new Design(columns + added, moreAt, moreValues);
  }

  /** Number of rows. */
  int rows() {
    return at.length;
  }

  /** Number of columns, with the intercept. */
  public int columns() {
    return columns;
  }

  private double times(int row, double[] coefficients) {
    double sum = 0;
    for (int j = 0; j < at[row].length; j++) sum += values[row][j] * coefficients[at[row][j]];
    return sum;
  }

  /** Adds the row, times {@code factor}, to a vector of as many columns. */
  void add(int row, double factor, double[] to) {
    for (int j = 0; j < at[row].length; j++) to[at[row][j]] += factor * values[row][j];
  }

  /**
   * The sum of the rows' outer products with themselves, each times its weight.
   *
   * @param to is overwritten
   */
  void squares(double[] weights, DMatrixRMaj to) {
    to.zero();
    for (int row = 0; row < rows(); row++) {
      if (weights[row] != 0) addSquare(row, weights[row], to.data);
    }
    for (int line = 0; line < columns; line++) {
      for (int column = line + 1; column < columns; column++) {
        to.data[line * columns + column] = to.data[column * columns + line];
      }
    }
  }

  /** Adds to the lower triangle alone: a row's columns ascend. */
  private void addSquare(int row, double weight, double[] to) {
    int[] where = at[row];
    double[] what = values[row];
    for (int j = 0; j < where.length; j++) {
      double weighted = weight * what[j];
      int line = where[j] * columns;
      for (int k = 0; k <= j; k++) to[line + where[k]] += weighted * what[k];
    }
  }

  /** Each row's product with coefficients. */
  double[] times(double[] coefficients) {
    double[] products = new double[rows()];
    Arrays.setAll(products, row -> times(row, coefficients));
    return products;
  }

  /** The row's quadratic form with a symmetric matrix. */
  double square(int row, DMatrixRMaj matrix) {
    int[] where = at[row];
    double[] what = values[row];
    double sum = 0;
    for (int j = 0; j < where.length; j++) {
      int line = where[j] * columns;
      for (int k = 0; k < where.length; k++)
        sum += what[j] * what[k] * matrix.data[line + where[k]];
    }
    return sum;
  }

  /**
   * Rank over the rows with trials: the number of coefficients that the data can tell. Less than
   * {@link #columns} if levels of one factor follow from others, or do not occur.
   */
  public int rank(double[] trials) {
    DMatrixRMaj square = new DMatrixRMaj(columns, columns);
    squares(Arrays.stream(trials).map(Math::signum).toArray(), square);
    SingularValueDecomposition_F64<DMatrixRMaj> svd =
        DecompositionFactory_DDRM.svd(columns, columns, false, false, true);
    if (!svd.decompose(square)) throw new IllegalStateException("singular values not found");
    double[] singular = Arrays.copyOf(svd.getSingularValues(), columns);
    double largest = Arrays.stream(singular).max().orElse(0);
    return (int) Arrays.stream(singular).filter(value -> value > TOLERANCE * largest).count();
  }
}

package dev.kbx.stats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.factory.DecompositionFactory_DDRM;
import org.ejml.interfaces.decomposition.SingularValueDecomposition_F64;

/**
 * The design matrix of a regression on factors: one row a cell, one column a coefficient, the first
 * of them the intercept. Rows hold few values, so they are stored without zeros, and rows that are
 * equal once.
 *
 * <p>A factor is given by the level of each row, numbered from 0.
 */
public final class Design {
  /** Singular values below this part of the largest one are 0. */
  private static final double TOLERANCE = 1e-9;

  private final int columns;

  /** Which of the distinct rows each row is. */
  private final int[] kinds;

  private final int[][] at;
  private final double[][] values;

  private Design(int columns, int[] kinds, int[][] at, double[][] values) {
    this.columns = columns;
    this.kinds = kinds;
    this.at = at;
    this.values = values;
  }

  /** The intercept alone. */
  public static Design intercept(int rows) {
    return new Design(1, new int[rows], new int[][] {{0}}, new double[][] {{1}});
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
    int[] numbers = new int[at.length * contrasts.length];
    Arrays.fill(numbers, -1);
    int[] moreKinds = new int[rows()];
    List<int[]> moreAt = new ArrayList<>();
    List<double[]> moreValues = new ArrayList<>();
    for (int i = 0; i < rows(); i++) {
      int pair = kinds[i] * contrasts.length + levels[i];
      if (numbers[pair] < 0) {
        numbers[pair] = moreAt.size();
        append(kinds[i], contrasts[levels[i]], moreAt, moreValues);
      }
      moreKinds[i] = numbers[pair];
    }
    return new Design(
        columns + contrasts[0].length,
        moreKinds,
        moreAt.toArray(int[][]::new),
        moreValues.toArray(double[][]::new));
  }

  /** Appends a row: one of the distinct rows with the columns of a level behind it. */
  private void append(int kind, double[] contrast, List<int[]> moreAt, List<double[]> moreValues) {
    int next = at[kind].length;
    int[] where = Arrays.copyOf(at[kind], next + contrast.length);
    double[] what = Arrays.copyOf(values[kind], where.length);
    for (int j = 0; j < contrast.length; j++) {
      if (contrast[j] == 0) continue;
      where[next] = columns + j;
      what[next++] = contrast[j];
    }
    moreAt.add(Arrays.copyOf(where, next));
    moreValues.add(Arrays.copyOf(what, next));
  }

  /** The distinct rows, in the order of {@link #kind}. */
  Design distinct() {
    return new Design(columns, IntStream.range(0, at.length).toArray(), at, values);
  }

  /** Which of the {@link #distinct} rows a row is, from 0. */
  int kind(int row) {
    return kinds[row];
  }

  /** Sums over equal rows, by {@link #kind}. */
  double[] sums(double[] ofRows) {
    double[] sums = new double[at.length];
    for (int row = 0; row < kinds.length; row++) sums[kinds[row]] += ofRows[row];
    return sums;
  }

  /** The rows of these numbers. */
  Design select(int[] rows) {
    return new Design(columns, IntStream.of(rows).map(row -> kinds[row]).toArray(), at, values);
  }

  /** Number of rows. */
  int rows() {
    return kinds.length;
  }

  /** Number of columns, with the intercept. */
  public int columns() {
    return columns;
  }

  /** Adds the row, times {@code factor}, to a vector of as many columns. */
  void add(int row, double factor, double[] to) {
    int[] where = at[kinds[row]];
    double[] what = values[kinds[row]];
    for (int j = 0; j < where.length; j++) to[where[j]] += factor * what[j];
  }

  /**
   * The sum of the rows' outer products with themselves, each times its weight.
   *
   * @param to is overwritten
   */
  void squares(double[] weights, DMatrixRMaj to) {
    to.zero();
    double[] sums = sums(weights);
    for (int kind = 0; kind < sums.length; kind++) {
      if (sums[kind] != 0) addSquare(kind, sums[kind], to.data);
    }
    for (int line = 0; line < columns; line++) {
      for (int column = line + 1; column < columns; column++) {
        to.data[line * columns + column] = to.data[column * columns + line];
      }
    }
  }

  /** Adds to the lower triangle alone: a row's columns ascend. */
  private void addSquare(int kind, double weight, double[] to) {
    int[] where = at[kind];
    double[] what = values[kind];
    for (int j = 0; j < where.length; j++) {
      double weighted = weight * what[j];
      int line = where[j] * columns;
      for (int k = 0; k <= j; k++) to[line + where[k]] += weighted * what[k];
    }
  }

  /** Each row's product with coefficients. */
  double[] times(double[] coefficients) {
    double[] products = new double[at.length];
    for (int kind = 0; kind < at.length; kind++) {
      int[] where = at[kind];
      double[] what = values[kind];
      for (int j = 0; j < where.length; j++) products[kind] += what[j] * coefficients[where[j]];
    }
    return IntStream.of(kinds).mapToDouble(kind -> products[kind]).toArray();
  }

  /** The row's quadratic form with a symmetric matrix. */
  double square(int row, DMatrixRMaj matrix) {
    int[] where = at[kinds[row]];
    double[] what = values[kinds[row]];
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

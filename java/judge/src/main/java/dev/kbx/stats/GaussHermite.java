package dev.kbx.stats;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.factory.DecompositionFactory_DDRM;
import org.ejml.interfaces.decomposition.EigenDecomposition_F64;

/**
 * Nodes and weights of Gauss-Hermite quadrature, for integrals of exp(−x²) f(x): the eigenvalues of
 * the recurrence's matrix, and the first components of its eigenvectors. G. H. Golub and J. H.
 * Welsch, "Calculation of Gauss quadrature rules", Mathematics of Computation 23 (1969) 221–230.
 */
final class GaussHermite {
  private final double[] nodes;
  private final double[] weights;

  private GaussHermite(double[] nodes, double[] weights) {
    this.nodes = nodes;
    this.weights = weights;
  }

  /** Ascending. */
  double[] nodes() {
    return nodes.clone();
  }

  /** The weights, in the order of the nodes. */
  double[] weights() {
    return weights.clone();
  }

  /** The rule with that many nodes, at least 1. */
  static GaussHermite of(int count) {
    if (count == 1) return new GaussHermite(new double[1], new double[] {Math.sqrt(Math.PI)});
    DMatrixRMaj recurrence = new DMatrixRMaj(count, count);
    for (int i = 1; i < count; i++) {
      recurrence.set(i, i - 1, Math.sqrt(i / 2.0));
      recurrence.set(i - 1, i, Math.sqrt(i / 2.0));
    }
    EigenDecomposition_F64<DMatrixRMaj> eigen = DecompositionFactory_DDRM.eig(count, true, true);
    if (!eigen.decompose(recurrence)) throw new IllegalStateException("no eigenvalues");
    int[] order =
        IntStream.range(0, count)
            .boxed()
            .sorted(Comparator.comparingDouble(i -> eigen.getEigenvalue(i).getReal()))
            .mapToInt(Integer::intValue)
            .toArray();
    double[] nodes = new double[count];
    double[] weights = new double[count];
    Arrays.setAll(nodes, i -> eigen.getEigenvalue(order[i]).getReal());
    Arrays.setAll(
        weights,
        i -> {
          double first = eigen.getEigenVector(order[i]).get(0);
          return Math.sqrt(Math.PI) * first * first;
        });
    return new GaussHermite(nodes, weights);
  }
}

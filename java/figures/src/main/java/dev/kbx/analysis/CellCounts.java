package dev.kbx.analysis;

import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * Passes and trials by task and cell, such as a level of a factor. Pairs without trials are not
 * stored; the others are sorted by task.
 */
final class CellCounts {
  private final int cells;
  private final int[] task;
  private final int[] cell;
  private final double[] passes;
  private final double[] trials;

  private CellCounts(int cells, int[] task, int[] cell, double[] passes, double[] trials) {
    this.cells = cells;
    this.task = task;
    this.cell = cell;
    this.passes = passes;
    this.trials = trials;
  }

  /**
   * Counts.
   *
   * @param cells number of cells
   * @param cellOf cell of a trial
   */
  static CellCounts of(Trials all, int cells, IntUnaryOperator cellOf) {
    long[] keys = new long[all.count()];
    Arrays.setAll(
        keys,
        i -> (((long) all.task(i) * cells + cellOf.applyAsInt(i)) << 1) | (all.passes(i) ? 1 : 0));
    Arrays.sort(keys);
    int pairs = 0;
    for (int i = 0; i < keys.length; i++) if (i == 0 || isNext(keys, i)) pairs++;
    int[] task = new int[pairs];
    int[] cell = new int[pairs];
    double[] passes = new double[pairs];
    double[] trials = new double[pairs];
    int pair = -1;
    for (int i = 0; i < keys.length; i++) {
      if (i == 0 || isNext(keys, i)) {
        pair++;
        task[pair] = Math.toIntExact((keys[i] >> 1) / cells);
        cell[pair] = Math.toIntExact((keys[i] >> 1) % cells);
      }
      trials[pair]++;
      passes[pair] += keys[i] & 1;
    }
    return new CellCounts(cells, task, cell, passes, trials);
  }

  private static boolean isNext(long[] keys, int i) {
    return keys[i] >> 1 != keys[i - 1] >> 1;
  }

  int cells() {
    return cells;
  }

  /** Number of pairs of a task and a cell. */
  int pairs() {
    return task.length;
  }

  int[] tasks() {
    return task.clone();
  }

  int cell(int pair) {
    return cell[pair];
  }

  double[] passes() {
    return passes.clone();
  }

  double[] trials() {
    return trials.clone();
  }

  /**
   * Sums over tasks.
   *
   * @param drawn how often each task counts
   * @param pass passes by cell, overwritten
   * @param all trials by cell, overwritten
   */
  void sum(int[] drawn, double[] pass, double[] all) {
    Arrays.fill(pass, 0);
    Arrays.fill(all, 0);
    for (int pair = 0; pair < task.length; pair++) {
      int times = drawn[task[pair]];
      if (times == 0) continue;
      pass[cell[pair]] += times * passes[pair];
      all[cell[pair]] += times * trials[pair];
    }
  }

  /** Passes by cell over all tasks. */
  double[] totalPasses() {
    return total(passes);
  }

  /** Trials by cell over all tasks. */
  double[] totalTrials() {
    return total(trials);
  }

  private double[] total(double[] counts) {
    double[] total = new double[cells];
    for (int pair = 0; pair < cell.length; pair++) total[cell[pair]] += counts[pair];
    return total;
  }
}

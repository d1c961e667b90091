package dev.kbx.device;

/** How many candidates of all slots are compiled at the same time. */
final class CompileLimits {
  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

  /**
   * Candidates whose kernels are compiled at the same time, each by up to eight processes: with
   * more of them all would be ready late, and the GPUs have nothing to do until then.
   */
  private static final int KERNELS = Math.max(2, PROCESSORS / 8);

  /**
   * Candidates whose C++ is compiled at the same time. It takes minutes and would hold up
   * everybody's kernels; each has two compilers, of up to 2 GiB.
   */
  private static final int CPP = Math.max(2, PROCESSORS / 4);

  private final ConcurrencyLimit kernels = new ConcurrencyLimit(KERNELS, "wait compile");
  private final ConcurrencyLimit cpp = new ConcurrencyLimit(CPP, "wait compile C++");

  /** The right to compile a candidate's kernels, or its C++. */
  ConcurrencyLimit.Pass enter(boolean bringsCpp) throws InterruptedException {
    return (bringsCpp ? cpp : kernels).enter();
  }
}

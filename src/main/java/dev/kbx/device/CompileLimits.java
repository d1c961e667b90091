package dev.kbx.device;

import static dev.kbx.device.Defaults.COMPILING_CPP;
import static dev.kbx.device.Defaults.COMPILING_KERNELS;

/** How many candidates of all slots are compiled at the same time. */
final class CompileLimits {
  private final ConcurrencyLimit kernels = new ConcurrencyLimit(COMPILING_KERNELS, "wait compile");
  private final ConcurrencyLimit cpp = new ConcurrencyLimit(COMPILING_CPP, "wait compile C++");

  /** The right to compile a candidate's kernels, or its C++. */
  ConcurrencyLimit.Pass enter(boolean bringsCpp) throws InterruptedException {
    return (bringsCpp ? cpp : kernels).enter();
  }
}

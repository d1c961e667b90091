package dev.kbx.device;

import static dev.kbx.device.Defaults.COMPILING_CPP;
import static dev.kbx.device.Defaults.COMPILING_KERNELS;

/** Limits how many candidates of all slots are compiled concurrently. */
final class CompileLimits {
  private final ConcurrencyLimit kernels = new ConcurrencyLimit(COMPILING_KERNELS, "wait compile");
  private final ConcurrencyLimit cpp = new ConcurrencyLimit(COMPILING_CPP, "wait compile C++");

  /** Waits for permission to compile a candidate's kernels, or its C++. */
  ConcurrencyLimit.Pass enter(boolean bringsCpp) throws InterruptedException {
    return (bringsCpp ? cpp : kernels).enter();
  }
}

package dev.kbx.timing;

/** How far the host runs ahead of the device when a timed call begins. */
enum HostRunAhead {
  /**
   * Not at all: the device waits for the host. The time includes launching, as a user of a single
   * call sees it.
   */
  NONE(0),

  /** Enough to launch a CUDA graph. */
  GRAPHS(2),

  /** Enough for some ten launches from Python: 0.2 ms on an H200. */
  LAUNCHES(6);

  private final int flushes;

  HostRunAhead(int flushes) {
    this.flushes = flushes;
  }

  /** Flushes that the device does meanwhile, as in {@link dev.kbx.worker.RunnerMessage.Measure}. */
  int flushes() {
    return flushes;
  }
}

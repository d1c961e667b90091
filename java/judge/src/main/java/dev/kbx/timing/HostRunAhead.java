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
  LAUNCHES(6),

  /**
   * For a host that launches slowly, or a call with many launches: 1.1 ms on an H200, of which
   * launching the flushes takes half on a slow host.
   */
  LONG(32);

  private final int flushes;

  HostRunAhead(int flushes) {
    this.flushes = flushes;
  }

  /** Flushes that the device does meanwhile, as in {@link dev.kbx.worker.RunnerMessage.Measure}. */
  int flushes() {
    return flushes;
  }

  /** Whether a device that still waits for the host would wait less with {@link #longer()}. */
  boolean hasLonger() {
    return this != NONE && this != LONG;
  }

  HostRunAhead longer() {
    return this == GRAPHS ? LAUNCHES : LONG;
  }
}

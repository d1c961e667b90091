package dev.kbx.timing;

/** How far the host is ahead of the device when a timed call begins. */
enum HostRunAhead {
  /**
   * Not at all: the device waits, and what a user of one call waits for as well is in its time, all
   * that launching takes.
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

  /** As in {@link dev.kbx.worker.RunnerMessage.Measure}: what the device does meanwhile. */
  int flushes() {
    return flushes;
  }
}

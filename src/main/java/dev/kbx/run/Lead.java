package dev.kbx.run;

/**
 * How far the host is ahead of the device when a timed call begins.
 *
 * @param flushes as in {@link dev.kbx.worker.RunnerMessage.Measure}: what the device does meanwhile
 */
record Lead(int flushes) {
  /**
   * Not at all: the device waits, and what a user of one call waits for as well is in its time, all
   * that launching takes.
   */
  static final Lead NONE = new Lead(0);

  /** Enough to launch a CUDA graph. */
  static final Lead GRAPHS = new Lead(2);

  /** Enough for some ten launches from Python: 0.2 ms on an H200. */
  static final Lead LAUNCHES = new Lead(6);

  /** Milliseconds: a host that is further behind is what takes the time. */
  private static final double MOST_MS = 1;

  /**
   * As far as in a row of such calls, where the device is still at the one before: as long as one
   * takes, a millisecond at most and {@link #LAUNCHES} at least. Who is not behind even then takes
   * the device's time, and only seemed to wait; whoever still is behind waits in any row.
   *
   * @param callMs milliseconds that one takes
   * @param flushMs milliseconds of a flush; 0 if unknown
   */
  static Lead inRow(double callMs, double flushMs) {
    if (flushMs <= 0) return LAUNCHES;
    int flushes = (int) Math.ceil(Math.min(callMs, MOST_MS) / flushMs);
    return new Lead(Math.max(LAUNCHES.flushes(), flushes));
  }
}

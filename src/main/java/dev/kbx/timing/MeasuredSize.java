package dev.kbx.timing;

import dev.kbx.worker.Oracle;

/**
 * A size that was measured while the candidate's process lived. What it comes to shows when that
 * process is gone.
 */
sealed interface MeasuredSize permits LaunchedSize, ReplayedSize {
  /** The size as it was launched from Python. */
  LaunchedSize launched();

  /** Whether the reference takes as long now that the candidate's process is gone. */
  boolean holds() throws InterruptedException, Oracle.Refused;

  /** What counts, now that the candidate's process is gone. */
  SettledSize settle() throws InterruptedException;
}

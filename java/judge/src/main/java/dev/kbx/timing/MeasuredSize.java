package dev.kbx.timing;

import dev.kbx.worker.Oracle;

/**
 * A size timed while the candidate's process lived. Its final figures are known only after that
 * process is gone.
 */
sealed interface MeasuredSize permits LaunchedSize, ReplayedSize {
  /** The measurement by launched calls. */
  LaunchedSize launched();

  /** Whether the reference takes as long now that the candidate's process is gone. */
  boolean holds() throws InterruptedException, Oracle.Refused;

  /** The final figures; call after the candidate's process is gone. */
  SettledSize settle() throws InterruptedException;
}

package dev.kbx.python;

/** Listener to an installation. Called from one thread, a few times a second. */
interface Progress {
  /** A separate line: an untested version, waiting for another kbx. */
  void note(String line);

  /** Current progress; replaces the previous update. */
  void update(String status);

  /** Ends the current update. */
  void done();
}

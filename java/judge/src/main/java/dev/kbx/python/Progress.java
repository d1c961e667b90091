package dev.kbx.python;

/** Listener to an installation. Called from one thread, a few times a second. */
public interface Progress {
  /** A separate line: an untested version, waiting for another kbx. */
  default void note(String line) {}

  /** Current progress; replaces the previous update. */
  default void update(String status) {}

  /** Ends the current update. */
  default void done() {}
}

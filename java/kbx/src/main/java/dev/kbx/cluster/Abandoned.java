package dev.kbx.cluster;

/** A job is not tried again: its attempts were lost. The message tells how. */
final class Abandoned extends Exception {
  private static final long serialVersionUID = 1;

  Abandoned(String message) {
    super(message);
  }
}

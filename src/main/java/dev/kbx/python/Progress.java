package dev.kbx.python;

/** Hears what an installation is doing. Called from one thread, a few times a second. */
interface Progress {
  /** Something worth a line of its own: an untested version, waiting for another kbx. */
  void note(String line);

  /** How far it has got; each call supersedes the one before. */
  void update(String status);

  /** The last update is done with. */
  void done();
}

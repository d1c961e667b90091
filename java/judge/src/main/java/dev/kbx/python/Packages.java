package dev.kbx.python;

/**
 * A set of pinned packages that kbx can install.
 *
 * @param requirements file in kbx's folder that pins them
 * @param folder begins the name of the environment's folder
 * @param what they are, for messages
 * @param downloadBytes size of the download
 * @param diskBytes size on disk
 * @param variable names an interpreter to use instead
 */
record Packages(
    String requirements,
    String folder,
    String what,
    long downloadBytes,
    long diskBytes,
    String variable) {
  /** What judges. */
  static final Packages WORKERS =
      new Packages(
          "worker/requirements.txt",
          "python-",
          "torch and triton",
          2_600_000_000L,
          8_000_000_000L,
          PythonEnvironment.VARIABLE);

  /** What speaks to a Ray cluster. */
  static final Packages RAY =
      new Packages(
          "bridge/requirements.txt",
          "ray-",
          "ray",
          100_000_000L,
          500_000_000L,
          RayEnvironment.VARIABLE);
}

package dev.kbx.cli;

/** Exit codes of {@code kbx}; scripts rely on them. */
public final class ExitCode {
  /** The command completed, whatever the verdicts. */
  public static final int OK = 0;

  /** Wrong usage, or input that cannot be read. */
  public static final int USAGE = 1;

  /** The command could not complete, because of kbx, this machine, or an interrupt. */
  public static final int INCOMPLETE = 2;

  private ExitCode() {}
}

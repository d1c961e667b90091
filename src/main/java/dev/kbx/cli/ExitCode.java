package dev.kbx.cli;

/** What {@code kbx} leaves with; scripts rely on it. */
final class ExitCode {
  /** The command did what it was asked, whatever the verdicts. */
  public static final int OK = 0;

  /** Wrong usage, or input that cannot be read. */
  public static final int USAGE = 1;

  /** It could not be completed: kbx, this machine, or an interrupt. */
  public static final int INCOMPLETE = 2;

  private ExitCode() {}
}

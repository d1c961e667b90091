package dev.kbx.cli;

import java.util.logging.LogManager;

/**
 * Logging that lasts as long as the process. The JDK's own manager closes every handler as soon as
 * a signal comes, so that nothing would tell what a server does while it ends. Public for the JDK,
 * which makes it as {@code java.util.logging.manager}.
 */
public final class LastingLog extends LogManager {
  /** For the JDK alone. */
  public LastingLog() {}

  @Override
  public void reset() {
    // Handlers write to stderr, which needs no closing.
  }
}

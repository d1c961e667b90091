package dev.kbx.dashboard;

import org.jspecify.annotations.Nullable;

/**
 * Who looks at a page.
 *
 * @param client name of the token; {@code local} on this machine
 * @param submits whether it may submit candidates
 * @param signedIn whether there is a session that it can end
 * @param csrf what forms must send back; null without a session
 */
public record Viewer(String client, boolean submits, boolean signedIn, @Nullable String csrf) {
  /** Anybody on this machine, where no tokens are needed. */
  public static final Viewer LOCAL = new Viewer("local", true, false, null);
}

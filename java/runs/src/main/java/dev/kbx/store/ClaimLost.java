package dev.kbx.store;

/**
 * Another process has taken over what this store had claimed. Whatever is written to this store
 * from now on is refused with this; reading goes on.
 */
public final class ClaimLost extends StoreProblem {
  private static final long serialVersionUID = 1;

  ClaimLost(String where, String why) {
    super(where, why);
  }
}

package dev.kbx;

import java.time.Duration;

/** How long tests wait, on any machine: only what never comes takes all of it. */
public final class Patience {
  public static final int SECONDS = 600;
  public static final Duration LIMIT = Duration.ofSeconds(SECONDS);

  private Patience() {}
}

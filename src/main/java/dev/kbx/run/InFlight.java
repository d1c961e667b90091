package dev.kbx.run;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;

/** Of equal candidates one is judged at a time. Safe for several threads. */
final class InFlight {
  private final Map<String, Turn> turns = new HashMap<>();

  /** Whose turn it is among those with one key, and how many know of it. */
  private static final class Turn {
    final Semaphore turn = new Semaphore(1, true);
    int holders;
  }

  /** The turn of one candidate, until it is closed. */
  interface Held extends AutoCloseable {
    @Override
    void close();
  }

  /** Waits until no other with this key is being judged, in the order in which they came. */
  Held enter(String key) throws InterruptedException {
    Turn mine = join(key);
    try {
      mine.turn.acquire();
    } catch (InterruptedException e) {
      leave(key, mine);
      throw e;
    }
    return () -> {
      mine.turn.release();
      leave(key, mine);
    };
  }

  private synchronized Turn join(String key) {
    Turn mine = turns.computeIfAbsent(key, _ -> new Turn());
    mine.holders++;
    return mine;
  }

  private synchronized void leave(String key, Turn mine) {
    if (--mine.holders == 0) turns.remove(key);
  }
}

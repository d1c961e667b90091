package dev.kbx.run;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;

/** Ensures that of equal candidates only one is judged at a time. Safe for several threads. */
final class InFlight {
  private final Map<String, Turn> turns = new HashMap<>();

  /** The lock of one key, and the number of its users. */
  private static final class Turn {
    final Semaphore turn = new Semaphore(1, true);
    int holders;
  }

  /** Exclusive use of a key, until closed. */
  interface Held extends AutoCloseable {
    @Override
    void close();
  }

  /** Waits until no other candidate with this key is being judged; first come, first served. */
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

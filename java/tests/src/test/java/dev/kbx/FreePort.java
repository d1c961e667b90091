package dev.kbx;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that start later, or again. They lie below those that Linux gives to
 * connections: with thousands of these one is soon taken while its server is away.
 */
public final class FreePort {
  private static final int FIRST = 25_000;
  private static final int END = 32_000;
  private static final int ATTEMPTS = 100;

  private FreePort() {}

  public static int find() throws IOException {
    for (int left = ATTEMPTS; ; left--) {
      try (ServerSocket free = new ServerSocket(ThreadLocalRandom.current().nextInt(FIRST, END))) {
        return free.getLocalPort();
      } catch (IOException e) {
        if (left == 0) throw e;
      }
    }
  }
}

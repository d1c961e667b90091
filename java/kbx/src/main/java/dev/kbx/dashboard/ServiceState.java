package dev.kbx.dashboard;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a server is doing.
 *
 * @param queued candidates that wait, and {@code judging} that are being judged
 * @param oldest how long the first of them has waited; null if none waits
 * @param clients how many wait of each client
 */
public record ServiceState(
    List<Device> devices,
    int queued,
    int judging,
    @Nullable Duration oldest,
    Map<String, Integer> clients) {
  /**
   * A device that judges.
   *
   * @param state in a word: {@code ready}, {@code lost}, …
   * @param healthy whether it judges
   * @param uuid null for a processor, as is {@code driver}
   */
  public record Device(
      String name,
      String state,
      boolean healthy,
      @Nullable String uuid,
      @Nullable String driver,
      @Nullable String arch) {}
}

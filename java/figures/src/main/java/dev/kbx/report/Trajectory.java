package dev.kbx.report;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a candidate was written, for the page's details: every request with its reply and verdict.
 *
 * @param task {@code Category/name}
 * @param answer the ask whose kernel is the answer; null if there is none
 * @param why in words
 */
public record Trajectory(
    String method,
    String task,
    int sample,
    @Nullable String answer,
    @Nullable String why,
    List<Round> rounds) {

  /**
   * One request.
   *
   * @param about asks whose findings the prompt holds
   * @param reply raw; null if there is none
   * @param failure why there is no reply
   * @param rule by which the code was found; null if none was looked for
   * @param status on development inputs; null if it was not judged, as are {@code message} and
   *     {@code speedup}
   * @param against the ask whose kernel this one's changes; null without one, as is {@code diff}
   * @param diff the hunks of a unified diff; empty for the same source
   * @param recorded the speedup in the ledger that is replayed, and where it was measured, in words
   */
  public record Round(
      String ask,
      List<String> about,
      List<Message> prompt,
      @Nullable String reply,
      @Nullable String failure,
      @Nullable String model,
      @Nullable Long tokens,
      @Nullable Double usd,
      @Nullable Double seconds,
      @Nullable String rule,
      @Nullable String against,
      @Nullable String diff,
      @Nullable String status,
      @Nullable String message,
      @Nullable String speedup,
      @Nullable String recorded) {}

  /**
   * A message of a prompt, without what the message at its place in the round before has, too.
   *
   * @param above lines left out above
   * @param below lines left out below
   */
  public record Message(String role, String text, int above, int below) {
    /** Fewer equal lines are not a reason to leave them out. */
    private static final int FEWEST = 4;

    /**
     * A message.
     *
     * @param before the one at its place in the round before; null in the first round
     */
    public static Message of(String role, String text, @Nullable String before) {
      if (before == null) return new Message(role, text, 0, 0);
      List<String> lines = text.lines().toList();
      List<String> old = before.lines().toList();
      int most = Math.min(lines.size(), old.size());
      int above = 0;
      while (above < most && lines.get(above).equals(old.get(above))) above++;
      int below = 0;
      while (below < most - above
          && lines.get(lines.size() - 1 - below).equals(old.get(old.size() - 1 - below))) below++;
      if (above < FEWEST) above = 0;
      if (below < FEWEST) below = 0;
      List<String> left = lines.subList(above, lines.size() - below);
      return new Message(role, String.join("\n", left), above, below);
    }
  }
}

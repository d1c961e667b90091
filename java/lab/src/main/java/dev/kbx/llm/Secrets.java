package dev.kbx.llm;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Keys that no text may contain. A provider may repeat the key in its answer, and a program may
 * print its environment.
 */
final class Secrets {
  private static final String MARK = "[key]";

  /**
   * Shorter ones are placeholders, as servers on this machine are given: removing {@code EMPTY}
   * from a reply would change it.
   */
  private static final int SHORTEST = 8;

  /** Characters of other people's text in a message. */
  private static final int LONGEST_LINE = 300;

  private final List<String> values = new CopyOnWriteArrayList<>();

  void add(String secret) {
    if (secret.length() >= SHORTEST && !values.contains(secret)) {
      values.add(secret);
      values.sort(Comparator.comparingInt(String::length).reversed());
    }
  }

  /** The text with each secret replaced by {@value #MARK}. */
  String redact(String text) {
    String clean = text;
    for (String secret : values) clean = clean.replace(secret, MARK);
    return clean;
  }

  ChatReply redact(ChatReply reply) {
    return new ChatReply(
        redact(reply.text()),
        reply.thinking() == null ? null : redact(reply.thinking()),
        redact(reply.finish()),
        reply.usage(),
        reply.seconds(),
        redact(reply.servedModel()),
        reply.attempts(),
        reply.unmetered(),
        reply.cached());
  }

  /** The text without secrets for a message of one line. */
  String redactedLine(String text) {
    return line(redact(text));
  }

  /** A text of others without control characters and repeated spaces, cut if it is long. */
  static String line(String text) {
    String line = text.replaceAll("[\\p{Cntrl}\\p{Cf}\\s]+", " ").strip();
    if (line.codePointCount(0, line.length()) <= LONGEST_LINE) return line;
    return line.substring(0, line.offsetByCodePoints(0, LONGEST_LINE)) + "…";
  }

  @Override
  public String toString() {
    return values.size() + " keys";
  }
}

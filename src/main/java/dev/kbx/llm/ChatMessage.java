package dev.kbx.llm;

import java.util.Locale;

/** One message of a conversation. */
public record ChatMessage(Role role, String text) {
  /** Who says it. */
  public enum Role {
    SYSTEM,
    USER,
    ASSISTANT;

    /** The name on the wire. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}

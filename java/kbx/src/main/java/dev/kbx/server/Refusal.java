package dev.kbx.server;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request that is not done; the message says what is wrong and what to do. */
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Why a server whose claim is lost neither accepts nor judges. */
  static final String TAKEN_OVER =
      "another kbx serve has taken over this store: ask that one; this one only shows what is"
          + " stored";

  private final int status;
  private final @Nullable String pointer;
  private final int retrySeconds;
  private final boolean closing;
  private final transient List<String> problems;
  private final transient List<String> allowed;

  private Refusal(
      int status,
      String detail,
      @Nullable String pointer,
      int retrySeconds,
      boolean closing,
      List<String> problems,
      List<String> allowed) {
    super(detail, null, false, false);
    this.status = status;
    this.pointer = pointer;
    this.retrySeconds = retrySeconds;
    this.closing = closing;
    this.problems = List.copyOf(problems);
    this.allowed = List.copyOf(allowed);
  }

  static Refusal of(int status, String detail) {
    return new Refusal(status, detail, null, 0, false, List.of(), List.of());
  }

  /** The connection is closed after the answer: the rest of the request is not read. */
  static Refusal closing(int status, String detail) {
    return new Refusal(status, detail, null, 0, true, List.of(), List.of());
  }

  /** Something in the body cannot be used. */
  static Refusal unusable(String pointer, String detail) {
    return new Refusal(422, detail, pointer, 0, false, List.of(), List.of());
  }

  /** Something in the body is at odds with what was accepted before. */
  static Refusal conflict(String pointer, String detail) {
    return new Refusal(409, detail, pointer, 0, false, List.of(), List.of());
  }

  /** The body is not what it must be to be read at all. */
  static Refusal unreadable(String pointer, String detail) {
    return new Refusal(400, detail, pointer, 0, false, List.of(), List.of());
  }

  /** Several things in a file cannot be used. */
  static Refusal unusable(List<String> problems) {
    return new Refusal(422, problems.getFirst(), null, 0, false, problems, List.of());
  }

  /** The same request may be done later. */
  static Refusal later(int status, String detail, int seconds) {
    return new Refusal(status, detail, null, Math.max(1, seconds), false, List.of(), List.of());
  }

  /** Another server has taken over; a proxy before both may lead the client to it. */
  static Refusal claimLost() {
    return later(503, TAKEN_OVER, 5);
  }

  /** As {@link #later}, to a client that must not keep its connection. */
  static Refusal laterClosing(int status, String detail, int seconds) {
    return new Refusal(status, detail, null, Math.max(1, seconds), true, List.of(), List.of());
  }

  /** The path answers to other methods. */
  static Refusal method(String detail, List<String> allowed) {
    return new Refusal(405, detail, null, 0, false, List.of(), allowed);
  }

  int status() {
    return status;
  }

  /** JSON pointer to what is wrong; null if it is not in the body. */
  @Nullable String pointer() {
    return pointer;
  }

  /** When to try again; 0 for never. */
  int retrySeconds() {
    return retrySeconds;
  }

  /** Whether the connection is closed after the answer. */
  boolean closing() {
    return closing;
  }

  List<String> problems() {
    return problems;
  }

  /** The methods that the path answers to, if that is what is wrong. */
  List<String> allowed() {
    return allowed;
  }
}

package dev.kbx.llm;

import java.util.function.BooleanSupplier;

/** A model that answers. Safe for use by many threads at a time. */
public interface ChatModel extends AutoCloseable {
  /**
   * Waits for the limits of the provider, asks, and tries again as long as that may help and is
   * allowed.
   *
   * @param again asked before each request after the first
   * @throws InterruptedException if the thread was interrupted; the request is then cut off
   */
  ChatReply ask(ChatRequest request, BooleanSupplier again)
      throws ModelFailure, InterruptedException;

  /** Asks, and tries again as long as that may help. */
  default ChatReply ask(ChatRequest request) throws ModelFailure, InterruptedException {
    return ask(request, () -> true);
  }

  /** What {@code --model} says. */
  String name();

  /** How many requests may be in flight; more wait. */
  int parallel();

  /** Ends connections; requests in flight fail. */
  @Override
  default void close() {}
}

package dev.kbx.worker;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/**
 * Requests and their answers on one channel, matched by id.
 *
 * <p>Several threads may ask at once. Once {@linkplain #end ended}, every open and later request
 * fails with the reason given.
 */
final class Conversation {
  /** Sends one message; how depends on the channel. */
  interface Sender {
    void send(Message message) throws IOException;
  }

  private final String peer;
  private final Sender sender;
  private final AtomicInteger lastId = new AtomicInteger();
  private final Map<Integer, CompletableFuture<Message>> open = new ConcurrentHashMap<>();
  private final CompletableFuture<Message> ended = new CompletableFuture<>();

  /**
   * @param peer whom this is with, for flight recordings
   */
  Conversation(String peer, Sender sender) {
    this.peer = peer;
    this.sender = sender;
  }

  /**
   * Sends the request made for a fresh id and waits for its answer.
   *
   * @throws TimeoutException when no answer came in time; a late one is then unexpected
   * @throws ExecutionException when the conversation ended first; the cause is the reason given to
   *     {@link #end}
   */
  Message ask(IntFunction<? extends Message.Numbered> request, Duration limit)
      throws InterruptedException, TimeoutException, ExecutionException {
    int id = lastId.incrementAndGet();
    CompletableFuture<Message> answer = new CompletableFuture<>();
    open.put(id, answer);
    Message.Numbered asked = request.apply(id);
    Exchange exchange = new Exchange(peer, asked);
    exchange.begin();
    try {
      sender.send(asked);
      return (Message)
          CompletableFuture.anyOf(answer, ended).get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (IOException e) {
      // The peer's end is closed; the reader learns why in a moment.
      return (Message)
          CompletableFuture.anyOf(answer, ended).get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } finally {
      exchange.commit();
      open.remove(id);
    }
  }

  /** Hands an answer to who asked; false when nobody did. */
  boolean answer(Message.Numbered message) {
    CompletableFuture<Message> waiting = open.get(message.id());
    return waiting != null && waiting.complete(message);
  }

  /** Whether {@link #end} was called. */
  boolean ended() {
    return ended.isDone();
  }

  /** Fails every open and later request with {@code reason}; only the first call counts. */
  void end(Exception reason) {
    ended.completeExceptionally(reason);
  }
}

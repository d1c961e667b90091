package dev.kbx.worker;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/**
 * Requests and their answers on one channel, matched by id.
 *
 * <p>Several threads may ask at once. Once {@linkplain #end ended}, every open and later request
 * fails with the reason given.
 */
final class RequestChannel {
  /** Sends one message; how depends on the channel. */
  interface Sender {
    void send(Message message) throws IOException;
  }

  private final String peer;
  private final Sender sender;
  private final LongSupplier clock;
  private final AtomicInteger lastId = new AtomicInteger();
  private final Map<Integer, Asked> open = new ConcurrentHashMap<>();

  /** What nobody waits for any more, and is answered all the same. */
  private final Set<Integer> late = ConcurrentHashMap.newKeySet();

  private final CompletableFuture<Message> ended = new CompletableFuture<>();

  /** When the last answer came, in nanoseconds; nobody but the reader of answers uses it. */
  private long lastAnswer;

  /**
   * @param peer whom this is with, for flight recordings
   * @param clock nanoseconds, as {@link System#nanoTime}: when requests are sent
   */
  RequestChannel(String peer, Sender sender, LongSupplier clock) {
    this.peer = peer;
    this.sender = sender;
    this.clock = clock;
    this.lastAnswer = clock.getAsLong();
  }

  /** A request that was sent, and its answer once that is there. */
  final class Asked {
    private final int id;
    private final long sent = clock.getAsLong();
    private final CompletableFuture<Message> answer = new CompletableFuture<>();
    private final Exchange exchange;
    private long before;
    private long came;

    private Asked(int id, Message.Numbered request) {
      this.id = id;
      this.exchange = new Exchange(peer, request);
      exchange.begin();
    }

    /**
     * Waits for the answer.
     *
     * @throws TimeoutException when none came in time from now; a late one is heard by nobody
     * @throws ExecutionException when the conversation ended first; the cause is the reason given
     *     to {@link #end}
     */
    Message answer(Duration limit)
        throws InterruptedException, TimeoutException, ExecutionException {
      try {
        return (Message)
            CompletableFuture.anyOf(answer, ended).get(limit.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        late.add(id);
        throw e;
      } finally {
        exchange.commit();
        open.remove(id);
      }
    }

    /** Nanoseconds from the sending to the answer, known once that is there. */
    long nanos() {
      return came - sent;
    }

    /**
     * The same of a peer that does one thing after the other: from the sending, or from its answer
     * before.
     */
    long nanosInTurn() {
      return came - Math.max(before, sent);
    }
  }

  /** Sends the request made for a fresh id. */
  Asked send(IntFunction<? extends Message.Numbered> request) {
    int id = lastId.incrementAndGet();
    Message.Numbered message = request.apply(id);
    Asked asked = new Asked(id, message);
    open.put(id, asked);
    try {
      sender.send(message);
    } catch (IOException e) {
      // The peer's end is closed; the reader learns why in a moment.
    }
    return asked;
  }

  /** Sends a request and waits for its answer, as {@link #send} and {@link Asked#answer}. */
  Message ask(IntFunction<? extends Message.Numbered> request, Duration limit)
      throws InterruptedException, TimeoutException, ExecutionException {
    return send(request).answer(limit);
  }

  /**
   * Hands an answer to who asked, if that waits for it; false when nobody has asked.
   *
   * @param came when it came, by the clock that requests are sent by
   */
  boolean answer(Message.Numbered message, long came) {
    long before = lastAnswer;
    lastAnswer = came;
    Asked asked = open.remove(message.id());
    if (asked == null) return late.remove(message.id());
    asked.before = before;
    asked.came = came;
    asked.exchange.end(); // Whoever asked may wait for it later.
    return asked.answer.complete(message);
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

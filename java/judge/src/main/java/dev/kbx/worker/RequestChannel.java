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
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * Matches requests and answers on one channel by id.
 *
 * <p>Safe for several threads. After {@link #end}, every open and later request fails with the
 * given reason.
 */
final class RequestChannel {
  /** Sends one message on the channel. */
  interface Sender {
    void send(Message message) throws IOException;
  }

  /** Says how much of a wait does not count against its limit. */
  interface Uncounted {
    long nanos() throws InterruptedException;
  }

  /** Nanoseconds between two looks at what counts, once a limit is reached. */
  private static final long SHORTEST_WAIT = Duration.ofMillis(50).toNanos();

  private final String peer;
  private final Sender sender;
  private final LongSupplier clock;
  private final AtomicInteger lastId = new AtomicInteger();
  private final Map<Integer, Asked> open = new ConcurrentHashMap<>();

  /** Requests whose caller has timed out; their answers are discarded. */
  private final Set<Integer> late = ConcurrentHashMap.newKeySet();

  private final CompletableFuture<Message> ended = new CompletableFuture<>();

  /** Time of the last answer in nanoseconds; used only by the thread that reads answers. */
  private long lastAnswer;

  /**
   * @param peer name of the peer in flight recordings
   * @param clock nanoseconds, as {@link System#nanoTime}: when requests are sent
   */
  RequestChannel(String peer, Sender sender, LongSupplier clock) {
    this.peer = peer;
    this.sender = sender;
    this.clock = clock;
    this.lastAnswer = clock.getAsLong();
  }

  /** A sent request, and its answer once received. */
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
     * @throws TimeoutException if there is none in time; a late answer is discarded
     * @throws ExecutionException if the channel ended first; the cause is the reason given to
     *     {@link #end}
     */
    Message answer(Duration limit)
        throws InterruptedException, TimeoutException, ExecutionException {
      return answer(limit, () -> 0);
    }

    /**
     * Waits for the answer where not all of the time counts.
     *
     * @param uncounted nanoseconds since the request was sent that do not; asked when the limit is
     *     reached
     */
    Message answer(Duration limit, Uncounted uncounted)
        throws InterruptedException, TimeoutException, ExecutionException {
      long begun = System.nanoTime();
      try {
        for (long left = limit.toNanos(); ; ) {
          try {
            return (Message) CompletableFuture.anyOf(answer, ended).get(left, TimeUnit.NANOSECONDS);
          } catch (TimeoutException e) {
            left = limit.toNanos() + uncounted.nanos() - (System.nanoTime() - begun);
            if (left <= 0) {
              late.add(id);
              throw e;
            }
            left = Math.max(left, SHORTEST_WAIT);
          }
        }
      } finally {
        exchange.commit();
        open.remove(id);
      }
    }

    /** Nanoseconds from sending to the answer; known after the answer. */
    long nanos() {
      return came - sent;
    }

    /**
     * The time of a request to a peer that serves requests one by one: from sending, or from its
     * previous answer if that is later.
     */
    long nanosInTurn() {
      return came - Math.max(before, sent);
    }
  }

  /** Sends the request, made for a new id. */
  Asked send(IntFunction<? extends Message.Numbered> request) {
    int id = lastId.incrementAndGet();
    Message.Numbered message = request.apply(id);
    Asked asked = new Asked(id, message);
    open.put(id, asked);
    try {
      sender.send(message);
    } catch (IOException e) {
      // The peer has closed its end; the reader reports the cause.
    }
    return asked;
  }

  /** Sends a request and waits for its answer, as {@link #send} and {@link Asked#answer}. */
  Message ask(IntFunction<? extends Message.Numbered> request, Duration limit)
      throws InterruptedException, TimeoutException, ExecutionException {
    return send(request).answer(limit);
  }

  /**
   * Passes an answer to the caller that waits for it; false if there was no such request.
   *
   * @param came time of arrival, by the clock that requests are sent by
   */
  boolean answer(Message.Numbered message, long came) {
    long before = lastAnswer;
    lastAnswer = came;
    Asked asked = open.remove(message.id());
    if (asked == null) return late.remove(message.id());
    asked.before = before;
    asked.came = came;
    asked.exchange.end(); // The caller may wait for it later.
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

  /**
   * Flight-recording event of a request and its answer; docs/architecture.md says how to record.
   */
  @Name("kbx.Exchange")
  @Label("Exchange")
  @Category("kbx")
  @Description("From the sending of a request to a worker to its answer")
  @StackTrace(false)
  static final class Exchange extends Event {
    @Label("Peer")
    String peer;

    @Label("Request")
    String request;

    Exchange(String peer, Message request) {
      this.peer = peer;
      this.request = request.getClass().getSimpleName();
    }
  }
}

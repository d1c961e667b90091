package dev.kbx.worker;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * The process that runs one candidate. Untrusted: every message from it is a claim, and any message
 * that is not the expected answer ends it.
 */
public final class Runner implements AutoCloseable {
  /** What a runner is for. */
  public enum Use {
    /**
     * Untimed calls of a candidate that will also be timed: its kernels run one after the other,
     * since what runs side by side is seen when it is timed.
     */
    CALLED,
    /** Untimed calls of one that will not: its kernels run concurrently as in any process. */
    CALLED_ALONE,
    /** Timed calls: likewise, and nobody asks for records of them. */
    TIMED
  }

  /** Limit from SIGKILL until the whole process tree is gone. */
  private static final Duration DEATH_LIMIT = Duration.ofSeconds(10);

  /** Limit for mapping arenas and, on a GPU, creating the CUDA context, on a busy machine. */
  private static final Duration ATTACH = Duration.ofSeconds(60);

  /** Bytes of a frame that takes well under a millisecond to parse, whatever its content. */
  private static final int SHORT = 16 << 10;

  /**
   * Frames that may wait to be parsed: a runner with one request at a time has at most the one just
   * parsed, and the answer to the next request.
   */
  private static final int MAX_UNREAD = 1;

  /** Parses longer frames of all runners, one at a time, since that may take much memory. */
  private static final Executor LONG_FRAMES =
      Executors.newSingleThreadExecutor(
          reading -> Thread.ofPlatform().daemon().name("long-frames").unstarted(reading));

  /**
   * How many times a limit a runner may also wait for a processor: others' work is no fault of the
   * candidate, whose threads may however wait for each other.
   */
  private static final int MOST_WAITS = 9;

  private static final JsonNode NO_ARENAS = JsonNodeFactory.instance.arrayNode();

  private final int number;
  private final RequestChannel conversation;
  private final LongSupplier clock;
  private final Runnable kill;
  private final Consumer<String> introduce;
  private final RequestChannel.Uncounted waits;
  private final CompileTime compiling = new CompileTime();
  private final boolean emulates;
  private final @Nullable String lacks;
  private final List<String> absent;
  private final CompletableFuture<ZygoteMessage.Exited> exited = new CompletableFuture<>();
  private volatile @Nullable String violation;

  /** Frames waiting for {@link #LONG_FRAMES}, in order. */
  private final AtomicInteger unread = new AtomicInteger();

  private List<ZygoteMessage.Protection> protections = List.of();
  private double spawnSeconds;

  /**
   * @param introduce introduces it to the oracle at an address
   * @param waits how long it has waited for a processor since it was spawned, by the zygote
   */
  Runner(
      int number,
      RequestChannel.Sender sender,
      LongSupplier clock,
      Runnable kill,
      Consumer<String> introduce,
      RequestChannel.Uncounted waits,
      boolean emulates,
      @Nullable String lacks,
      @Nullable List<String> absent) {
    this.number = number;
    this.conversation = new RequestChannel("runner " + number, sender, clock);
    this.clock = clock;
    this.kill = kill;
    this.introduce = introduce;
    this.waits = waits;
    this.emulates = emulates;
    this.lacks = lacks;
    this.absent = absent == null ? List.of() : absent;
  }

  Runner spawned(ZygoteMessage.Spawned answer) {
    protections = List.copyOf(answer.protections());
    spawnSeconds = answer.seconds();
    return this;
  }

  /** The channel number, unique in its zygote. */
  public int number() {
    return number;
  }

  /**
   * Lets the oracle ask for records of the calls that this runner makes on a GPU. One without a GPU
   * was introduced when it was forked.
   */
  public void introduceTo(Oracle oracle) {
    String address = oracle.hello().dataAddress();
    if (!emulates && address != null) introduce.accept(address);
  }

  /** Whether it emulates a GPU. */
  public boolean emulates() {
    return emulates;
  }

  /** What its machine lacks to compile CUDA C++, as reported by the zygote; null for nothing. */
  public @Nullable String lacks() {
    return lacks;
  }

  /**
   * Python packages in which candidates may write kernels and that its machine lacks, by the name
   * that is imported, as reported by the zygote.
   */
  public List<String> absent() {
    return absent;
  }

  /** Now, in nanoseconds, by the clock that its answers are timed with. */
  public long nanoTime() {
    return clock.getAsLong();
  }

  private long waitNanos(Duration limit) throws InterruptedException {
    return Math.min(MOST_WAITS * limit.toNanos(), waits.nanos());
  }

  /** How long it has compiled, nanoseconds; a claim, and at most two minutes. */
  public long compileNanos() {
    return compiling.nanos(nanoTime());
  }

  /** The protections of this runner on this machine. */
  public List<ZygoteMessage.Protection> protections() {
    return protections;
  }

  /** Seconds from the request until the process was sandboxed. */
  double spawnSeconds() {
    return spawnSeconds;
  }

  /** The runner's process tree ended before it answered. */
  public static final class Lost extends Exception {
    private static final long serialVersionUID = 1;
    private final transient ZygoteMessage.Exited how;
    private final @Nullable String violation;

    Lost(ZygoteMessage.Exited how, @Nullable String violation) {
      super("the runner ended: " + how.reason());
      this.how = how;
      this.violation = violation;
    }

    public ZygoteMessage.Exited how() {
      return how;
    }

    /** As {@link Runner#violation()}. */
    public @Nullable String violation() {
      return violation;
    }
  }

  /** The protocol violation for which it was killed; null for none. */
  public @Nullable String violation() {
    return violation;
  }

  /**
   * An answer and its duration.
   *
   * @param nanos wall-clock time since the request was sent
   */
  public record Answered(RunnerMessage message, long nanos) {}

  /** As {@link #time}, without the duration. */
  public RunnerMessage ask(
      Class<? extends RunnerMessage> expected,
      IntFunction<? extends RunnerMessage> request,
      Duration limit)
      throws InterruptedException, TimeoutException, Lost {
    return time(expected, request, limit).message();
  }

  /**
   * Sends a request and waits for the answer.
   *
   * @return an answer of the expected type, or {@link RunnerMessage.Raised}
   *     <p>Time in which it compiles or waits for a processor does not count, within bounds: a call
   *     takes as long on a busy machine as on an idle one.
   * @throws TimeoutException if it did not answer in time; it is still running
   * @throws Lost if its process tree ended, by itself or for a protocol violation
   * @throws WorkerFailure if the zygote has ended
   */
  public Answered time(
      Class<? extends RunnerMessage> expected,
      IntFunction<? extends RunnerMessage> request,
      Duration limit)
      throws InterruptedException, TimeoutException, Lost {
    try {
      long compiled = compileNanos();
      RequestChannel.Asked sent = conversation.send(request);
      Message answer = sent.answer(limit, () -> waitNanos(limit) + compileNanos() - compiled);
      if (expected.isInstance(answer) || answer instanceof RunnerMessage.Raised) {
        return new Answered((RunnerMessage) answer, sent.nanos());
      }
      violate("answered " + answer.getClass().getSimpleName() + " where it should not");
      throw new Lost(death(), violation);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof WorkerFailure failure) throw failure;
      throw new Lost(death(), violation);
    }
  }

  /** Prepares it for work, on a GPU with a CUDA context, without mapping arenas. */
  public void attach() throws InterruptedException {
    attach(NO_ARENAS);
  }

  /**
   * Prepares it for work on an oracle's arenas.
   *
   * @throws WorkerFailure if that fails: without candidate code in it, every failure is kbx's
   */
  public void attach(JsonNode arenas) throws InterruptedException {
    try {
      RunnerMessage answer =
          ask(RunnerMessage.Attached.class, id -> new RunnerMessage.Attach(id, arenas), ATTACH);
      if (answer instanceof RunnerMessage.Raised raised) {
        throw new WorkerFailure("a runner could not be readied: " + raised.message());
      }
    } catch (TimeoutException e) {
      throw new WorkerFailure("a runner was not ready after " + ATTACH.toSeconds() + " s", e);
    } catch (Lost e) {
      throw new WorkerFailure("a runner was lost before it had a source: " + e.getMessage(), e);
    }
  }

  /** Processes a frame. Only the reader of all frames calls this and {@link #exited}. */
  void received(Frames.Frame frame) {
    if (unread.get() <= MAX_UNREAD) inTurn(isLong(frame), () -> hear(frame));
    else if (violation == null) violate("sent an answer to no request");
  }

  private void hear(Frames.Frame frame) {
    if (violation != null)
      return; // It is being killed: its remaining messages must not race its end.
    try {
      switch (Frames.parse(frame.payload())) {
        case Message.Compiling message -> {
          if (!compiling.note(message.begun(), came(frame)))
            violate("says too often that it compiles");
        }
        case Message.Numbered answer -> {
          if (!conversation.answer(answer, came(frame))) violate("sent an answer to no request");
        }
        case null, default -> violate("sent an unsolicited message");
      }
    } catch (Frames.Unreadable e) {
      violate("wrote to the referee's channel");
    } catch (OutOfMemoryError e) {
      violate("sent more than there is memory for");
    }
  }

  /** Time of arrival of an answer: an answer that is slow to parse must gain no time. */
  private long came(Frames.Frame frame) {
    return isLong(frame) ? clock.getAsLong() : frame.came();
  }

  private static boolean isLong(Frames.Frame frame) {
    return frame.payload().length > SHORT;
  }

  /** Runs steps in order; slow ones on a thread where they delay no other runner. */
  private void inTurn(boolean takesLong, Runnable step) {
    if (unread.get() == 0 && !takesLong) {
      step.run();
      return;
    }
    unread.incrementAndGet();
    LONG_FRAMES.execute(() -> {
      try {
        step.run();
      } finally {
        unread.decrementAndGet();
      }
    });
  }

  private void violate(String what) {
    if (violation == null) violation = what;
    kill.run();
  }

  void exited(ZygoteMessage.Exited how) {
    inTurn(false, () -> end(how));
  }

  private void end(ZygoteMessage.Exited how) {
    if (how.reason() == ZygoteMessage.Exited.Reason.PROTOCOL && violation == null) {
      violation = "wrote to the referee's channel";
    }
    exited.complete(how);
    conversation.end(new IllegalStateException("the runner ended"));
  }

  void lost(WorkerFailure why) {
    exited.completeExceptionally(why);
    conversation.end(why);
  }

  /** Whether its process tree is gone. */
  public boolean ended() {
    return exited.isDone();
  }

  private ZygoteMessage.Exited death() throws InterruptedException {
    try {
      return exited.get(DEATH_LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof WorkerFailure failure) throw failure;
      throw new WorkerFailure("the zygote ended", e);
    } catch (TimeoutException e) {
      throw new WorkerFailure(
          "runner %d did not end within %d s".formatted(number, DEATH_LIMIT.toSeconds()), e);
    }
  }

  /** Kills the process tree unless it has ended, and waits until it is gone. */
  public ZygoteMessage.Exited end() throws InterruptedException {
    if (!exited.isDone()) kill.run();
    return death();
  }

  /** Requests the end of the process tree without waiting. */
  @Override
  public void close() {
    if (!exited.isDone()) kill.run();
  }
}

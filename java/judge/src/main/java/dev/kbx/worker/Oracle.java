package dev.kbx.worker;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/**
 * The trusted process that makes inputs, computes the truth and compares. It serves one candidate
 * at a time and answers in order. Several threads may concurrently ask about tasks that are not
 * opened.
 *
 * <p>Every failure to answer is a {@link WorkerFailure}: the oracle never runs candidate code, so
 * no candidate can stop it.
 */
public final class Oracle implements AutoCloseable {
  private final WorkerProcess process;
  private final LongSupplier clock;
  private final RequestChannel conversation;
  private final Message.Hello hello;

  private Oracle(
      WorkerProcess process, LongSupplier clock, RequestChannel conversation, Message.Hello hello) {
    this.process = process;
    this.clock = clock;
    this.conversation = conversation;
    this.hello = hello;
  }

  /** Starts an oracle for a device and waits for its greeting. */
  public static Oracle start(OracleHost host, DeviceSlot slot) throws InterruptedException {
    return start(host, slot, List.of());
  }

  /**
   * Starts an oracle on the CPU that waits for the zygote's import of torch.
   *
   * @param shared arguments that the zygote gets as well; empty to import by itself
   */
  public static Oracle start(OracleHost host, DeviceSlot slot, List<String> shared)
      throws InterruptedException {
    return start(host, slot, slot.uid(), shared);
  }

  /** Starts an oracle on a GPU that will not time, with what makes calls of candidates again. */
  public static Oracle replaying(OracleHost host, DeviceSlot slot) throws InterruptedException {
    return start(host, slot, List.of("--replays"));
  }

  /**
   * Starts an oracle that compiles references. It shares neither memory nor user with runners.
   *
   * @param cache folder of the compiler caches; its content is trusted. A confined oracle has
   *     caches of its own instead
   */
  public static Oracle ofBaselines(OracleHost host, DeviceSlot slot, Path cache)
      throws InterruptedException {
    List<String> arguments =
        host.confinedTo() == null
            ? List.of("--compiler-cache", cache.toAbsolutePath().toString())
            : List.of();
    return start(host, slot, slot.ownUid(), arguments);
  }

  /** Starts an oracle on the CPU that only traces shapes and estimates memory. */
  public static Oracle shapeTracer(OracleHost host) throws InterruptedException {
    DeviceSlot slot = DeviceSlot.cpu(0);
    return start(host, slot, slot.uid(), List.of("--shape-tracer"));
  }

  private static Oracle start(OracleHost host, DeviceSlot slot, int uid, List<String> further)
      throws InterruptedException {
    WorkerProcess[] started = new WorkerProcess[1];
    RequestChannel conversation =
        new RequestChannel("oracle", message -> started[0].send(0, message), host.clock());
    List<String> arguments =
        new ArrayList<>(List.of("kbx.oracle", "--device", slot.kind().label()));
    if (slot.kind() == DeviceSlot.Kind.CUDA) {
      arguments.addAll(List.of("--index", String.valueOf(slot.index())));
    }
    if (slot.kind() == DeviceSlot.Kind.CUDA || host.confinedTo() != null) {
      arguments.addAll(List.of("--uid", String.valueOf(uid)));
    }
    arguments.addAll(host.arguments());
    arguments.addAll(further);
    started[0] = WorkerProcess.ofOracle(host, arguments, listener(conversation));
    try {
      return new Oracle(started[0], host.clock(), conversation, started[0].greeting());
    } catch (WorkerFailure | InterruptedException e) {
      started[0].close();
      throw e;
    }
  }

  private static WorkerProcess.Listener listener(RequestChannel conversation) {
    return new WorkerProcess.Listener() {
      @Override
      public void frame(Frames.Frame frame) {
        try {
          if (Frames.parse(frame.payload()) instanceof Message.Numbered answer) {
            conversation.answer(answer, frame.came());
          }
        } catch (Frames.Unreadable e) {
          conversation.end(
              new WorkerFailure("the oracle sent a message that this kbx cannot read", e));
        }
      }

      @Override
      public void ended(WorkerFailure why) {
        conversation.end(why);
      }
    };
  }

  /** Now, in nanoseconds, by the clock that its answers are timed with. */
  public long nanoTime() {
    return clock.getAsLong();
  }

  /** The oracle's greeting: device, versions, data address. */
  public Message.Hello hello() {
    return hello;
  }

  /** A sent request. The oracle answers requests in the order in which they were sent. */
  public static final class Asked<T extends OracleMessage> {
    private final Class<T> expected;
    private final RequestChannel.Asked sent;
    private final Duration limit;

    private Asked(Class<T> expected, RequestChannel.Asked sent, Duration limit) {
      this.expected = expected;
      this.sent = sent;
      this.limit = limit;
    }

    /**
     * Waits for the answer.
     *
     * @throws Refused if the oracle answers {@link Message.Failed}
     * @throws WorkerFailure if it ended, answered something else or not in time
     */
    public T answer() throws InterruptedException, Refused {
      try {
        Message answer = sent.answer(limit);
        if (answer instanceof Message.Failed failed) throw new Refused(failed);
        if (!expected.isInstance(answer)) {
          throw new WorkerFailure("the oracle answered " + answer.getClass().getSimpleName());
        }
        return expected.cast(answer);
      } catch (ExecutionException e) {
        if (e.getCause() instanceof WorkerFailure failure) throw failure;
        throw new WorkerFailure("the oracle ended", e);
      } catch (TimeoutException e) {
        throw new WorkerFailure("the oracle did not answer within " + limit.toSeconds() + " s", e);
      }
    }

    /** Wall-clock nanoseconds that the oracle spent on it; known after the answer. */
    public long nanos() {
      return sent.nanosInTurn();
    }
  }

  /** Sends a request without waiting, so that the oracle can continue with it at once. */
  public <T extends OracleMessage> Asked<T> send(
      Class<T> expected, IntFunction<? extends OracleMessage> request, Duration limit) {
    return new Asked<>(expected, conversation.send(request), limit);
  }

  /** Sends a request and waits for an answer of the expected type, as {@link Asked#answer}. */
  public <T extends OracleMessage> T ask(
      Class<T> expected, IntFunction<? extends OracleMessage> request, Duration limit)
      throws InterruptedException, Refused {
    return send(expected, request, limit).answer();
  }

  /**
   * The oracle understood the request and could not serve it: invalid task, or a missing feature.
   */
  public static final class Refused extends Exception {
    private static final long serialVersionUID = 1;
    private final transient Message.Failed answer;

    Refused(Message.Failed answer) {
      super(answer.message());
      this.answer = answer;
    }

    public Message.Failed answer() {
      return answer;
    }

    /** Whether this device cannot serve the request, and another oracle could not, either. */
    public boolean isOfTheDevice() {
      return answer.reason() == Message.Failed.Reason.UNSUPPORTED;
    }
  }

  /** Whether the process is alive. */
  public boolean alive() {
    return process.alive() && !conversation.ended();
  }

  @Override
  public void close() {
    conversation.end(new WorkerFailure("the oracle was closed"));
    process.close();
  }
}

package dev.kbx.worker;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The trusted process that forks runners and relays their frames. Shared by the slots of a run;
 * safe for several threads.
 */
public final class Zygote implements AutoCloseable {
  /** For an answer of its own: on a busy machine it waits for a processor as its runners do. */
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final WorkerProcess process;
  private final LongSupplier clock;
  private final RequestChannel conversation;
  private final Map<Integer, Runner> runners;
  private final Message.Hello hello;
  private final AtomicInteger lastRunner = new AtomicInteger();

  private Zygote(
      WorkerProcess process,
      LongSupplier clock,
      RequestChannel conversation,
      Map<Integer, Runner> runners,
      Message.Hello hello) {
    this.process = process;
    this.clock = clock;
    this.conversation = conversation;
    this.runners = runners;
    this.hello = hello;
  }

  /**
   * Starts a zygote and waits until it can fork.
   *
   * @param clock nanoseconds, as {@link System#nanoTime}: what answers are timed with
   * @param notices receives lines for the user, such as that something is built now
   */
  public static Zygote start(Path python, Path home, LongSupplier clock, Consumer<String> notices)
      throws InterruptedException {
    return start(python, home, clock, notices, List.of());
  }

  /**
   * Starts a zygote that imports torch for an oracle, too, if that waits.
   *
   * @param shared arguments, as {@link Oracle#start(OracleHost, DeviceSlot, List)} gets them
   */
  public static Zygote start(
      Path python, Path home, LongSupplier clock, Consumer<String> notices, List<String> shared)
      throws InterruptedException {
    WorkerProcess[] started = new WorkerProcess[1];
    RequestChannel conversation =
        new RequestChannel("zygote", message -> started[0].send(0, message), clock);
    Map<Integer, Runner> runners = new ConcurrentHashMap<>();
    started[0] =
        WorkerProcess.start(
            "zygote",
            python,
            home,
            clock,
            Stream.concat(Stream.of("kbx.runner.zygote"), shared.stream()).toList(),
            new Switchboard(conversation, runners, notices));
    try {
      return new Zygote(started[0], clock, conversation, runners, started[0].greeting());
    } catch (WorkerFailure | InterruptedException e) {
      started[0].close();
      throw e;
    }
  }

  public Message.Hello hello() {
    return hello;
  }

  /**
   * Resource limits of a runner.
   *
   * @param memoryBytes heap and anonymous memory
   * @param cpuSeconds CPU time
   * @param processes processes and threads
   * @param fileBytes scratch space
   */
  public record Allowance(long memoryBytes, int cpuSeconds, int processes, long fileBytes) {}

  /**
   * Forks a runner for a slot, on the device in its oracle's greeting.
   *
   * @param use what it is for
   */
  public Runner spawn(
      DeviceSlot slot, String arch, Message.Hello oracle, Allowance allowance, Runner.Use use)
      throws InterruptedException {
    return spawn(
        slot, arch, oracle.deviceUuid(), oracle.dataAddress(), allowance, use, false, false);
  }

  /**
   * Forks a runner that will get no arenas: for compiling ahead.
   *
   * @param module whether what it calls is a module, most of which is PyTorch's work
   */
  public Runner spawn(DeviceSlot slot, String arch, Allowance allowance, boolean module)
      throws InterruptedException {
    return spawn(slot, arch, null, null, allowance, Runner.Use.CALLED, false, module);
  }

  /**
   * Forks a runner without arenas and with a loopback network, on the device in the greeting.
   * Refused unless it has its own network and file namespaces.
   */
  public Runner spawnWithLoopback(
      DeviceSlot slot, String arch, Message.Hello oracle, Allowance allowance)
      throws InterruptedException {
    return spawn(slot, arch, oracle.deviceUuid(), null, allowance, Runner.Use.CALLED, true, false);
  }

  private Runner spawn(
      DeviceSlot slot,
      String arch,
      @Nullable String deviceUuid,
      @Nullable String dataAddress,
      Allowance allowance,
      Runner.Use use,
      boolean loopback,
      boolean shapes)
      throws InterruptedException {
    int number = lastRunner.incrementAndGet();
    Runner runner =
        new Runner(
            number,
            message -> process.send(number, message),
            clock,
            () -> tell(new ZygoteMessage.Kill(number)),
            address -> tell(new ZygoteMessage.Introduce(number, address)),
            () -> waitNanos(number),
            slot.kind() == DeviceSlot.Kind.CPU,
            hello.lacks(),
            hello.absent());
    runners.put(number, runner);
    boolean listens = false;
    try {
      Message answer =
          conversation.ask(
              id ->
                  new ZygoteMessage.Spawn(
                      id,
                      number,
                      slot.kind().label(),
                      slot.index(),
                      deviceUuid,
                      arch,
                      dataAddress,
                      slot.uid(),
                      allowance.memoryBytes(),
                      allowance.cpuSeconds(),
                      allowance.processes(),
                      allowance.fileBytes(),
                      use == Runner.Use.TIMED,
                      use != Runner.Use.CALLED,
                      loopback,
                      shapes),
              LIMIT);
      return switch (answer) {
        case ZygoteMessage.Spawned spawned -> {
          listens = true;
          yield runner.spawned(spawned);
        }
        case Message.Failed failed -> throw new WorkerFailure("no runner: " + failed.message());
        default ->
            throw new WorkerFailure("the zygote answered " + answer.getClass().getSimpleName());
      };
    } catch (ExecutionException e) {
      if (e.getCause() instanceof WorkerFailure failure) throw failure;
      throw new WorkerFailure("the zygote ended", e);
    } catch (TimeoutException e) {
      close(); // It hangs for everyone: the next use starts a new zygote.
      throw new WorkerFailure("the zygote did not fork within " + LIMIT.toSeconds() + " s", e);
    } finally {
      if (!listens) {
        runners.remove(number);
        tell(new ZygoteMessage.Kill(number)); // It may have been forked nevertheless.
      }
    }
  }

  /** How long a runner has waited for a processor; 0 where the zygote cannot say. */
  private long waitNanos(int runner) throws InterruptedException {
    try {
      Message answer = conversation.ask(id -> new ZygoteMessage.Wait(id, runner), LIMIT);
      return answer instanceof ZygoteMessage.Waited waited ? (long) (waited.seconds() * 1e9) : 0;
    } catch (TimeoutException | ExecutionException e) {
      return 0;
    }
  }

  private void tell(ZygoteMessage message) {
    try {
      process.send(0, message);
    } catch (IOException e) {
      // The zygote has ended, and every runner with it.
    }
  }

  /** Whether the process is alive. */
  public boolean alive() {
    return process.alive() && !conversation.ended();
  }

  /** Process id, for tests and {@code kbx doctor}. */
  long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    conversation.end(new WorkerFailure("the zygote was closed"));
    process.close();
  }

  /** Dispatches frames to their receivers. */
  private record Switchboard(
      RequestChannel conversation, Map<Integer, Runner> runners, Consumer<String> notices)
      implements WorkerProcess.Listener {
    @Override
    public void frame(Frames.Frame frame) {
      if (frame.channel() == 0) {
        own(frame);
      } else {
        Runner runner = runners.get(frame.channel());
        if (runner != null) runner.received(frame);
      }
    }

    private void own(Frames.Frame frame) {
      try {
        switch (Frames.parse(frame.payload())) {
          case ZygoteMessage.Exited exited -> {
            Runner runner = runners.remove(exited.runner());
            if (runner != null) runner.exited(exited);
          }
          case Message.Numbered answer -> conversation.answer(answer, frame.came());
          default ->
              throw new Frames.Unreadable("not for the referee", new IllegalStateException());
        }
      } catch (Frames.Unreadable e) {
        conversation.end(
            new WorkerFailure("the zygote sent a message that this kbx cannot read", e));
      }
    }

    @Override
    public void notice(String text) {
      notices.accept(text);
    }

    @Override
    public void ended(WorkerFailure why) {
      conversation.end(why);
      runners.values().forEach(runner -> runner.lost(why));
    }
  }
}

package dev.kbx.worker;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A trusted Python process: starts it, waits for its greeting, reads its frames until it ends.
 *
 * <p>Closing its stdin ends it: when the JVM dies, oracles and zygote end with all their children.
 */
public final class WorkerProcess implements AutoCloseable {
  /** Limit from exec to the first frame: two imports of torch on a slow disk. */
  private static final Duration START_LIMIT = Duration.ofMinutes(3);

  private static final int STDERR_LINES = 20;

  /** What a process that runs somebody else's task files is left of this one's environment. */
  private static final Set<String> HARMLESS =
      Set.of("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_HOME", "HOME");

  /** Begins a line on stderr that is for the user. */
  private static final String NOTICE = "notice: ";

  private final String role;
  private final Process process;
  private final Frames frames;
  private final CompletableFuture<Message.Hello> hello = new CompletableFuture<>();
  private final Deque<String> stderr = new ArrayDeque<>();

  private WorkerProcess(String role, Process process, LongSupplier clock) {
    this.role = role;
    this.process = process;
    this.frames = new Frames(process.getInputStream(), process.getOutputStream(), clock);
  }

  /** Receives the messages after the greeting; called by one thread, in order. */
  public interface Listener {
    void frame(Frames.Frame frame);

    /** The process is gone; the last call. */
    void ended(WorkerFailure why);

    /** What the process has to say to the user: a line on stderr after {@link #NOTICE}. */
    default void notice(String text) {}
  }

  static WorkerProcess start(
      String role,
      Path python,
      Path home,
      LongSupplier clock,
      List<String> arguments,
      Listener listener) {
    return start(role, python, home, List.of("worker"), clock, arguments, listener);
  }

  static WorkerProcess ofOracle(OracleHost host, List<String> arguments, Listener listener) {
    Predicate<String> passed = host.confinedTo() == null ? _ -> true : HARMLESS::contains;
    return start(
        "oracle",
        host.python(),
        host.home(),
        List.of("worker"),
        passed,
        host.clock(),
        arguments,
        listener);
  }

  /**
   * Starts {@code python -m} with these arguments.
   *
   * @param folders of {@code home} that hold the modules
   * @param clock says when frames have come, in nanoseconds
   */
  public static WorkerProcess start(
      String role,
      Path python,
      Path home,
      List<String> folders,
      LongSupplier clock,
      List<String> arguments,
      Listener listener) {
    return start(role, python, home, folders, _ -> true, clock, arguments, listener);
  }

  /**
   * Starts a process.
   *
   * @param passed which variables of this process's environment it gets
   */
  private static WorkerProcess start(
      String role,
      Path python,
      Path home,
      List<String> folders,
      Predicate<String> passed,
      LongSupplier clock,
      List<String> arguments,
      Listener listener) {
    List<String> command = new java.util.ArrayList<>(List.of(python.toString(), "-u", "-m"));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.directory(home.toFile());
    builder.environment().keySet().removeIf(passed.negate());
    builder.environment().putAll(environment(home, folders));
    builder.environment().keySet().removeIf(WorkerProcess::misleading);
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new WorkerFailure("cannot start the " + role + ": " + e.getMessage(), e);
    }
    WorkerProcess worker = new WorkerProcess(role, process, clock);
    Thread errors =
        reader(role + "-stderr", () -> worker.drain(process.getErrorStream(), listener));
    reader(role + "-reader", () -> worker.read(listener, errors));
    return worker;
  }

  /**
   * A platform thread: a virtual one would pin its carrier while it reads a pipe, and a large
   * machine's processes would use up all carriers.
   */
  private static Thread reader(String name, Runnable reading) {
    return Thread.ofPlatform().daemon().name(name).start(reading);
  }

  private static Map<String, String> environment(Path home, List<String> folders) {
    Map<String, String> values = new HashMap<>();
    List<String> paths = folders.stream().map(folder -> home.resolve(folder).toString()).toList();
    values.put("PYTHONPATH", String.join(":", paths));
    values.put("TMPDIR", ScratchFolder.ofWorkers().toString());
    values.put("PYTHONHASHSEED", "0");
    values.put("PYTHONUNBUFFERED", "1");
    // torch looks up the user's name and writes caches to a home; an oracle on a GPU has neither.
    values.put("USER", "kbx");
    values.put("LOGNAME", "kbx");
    values.put("USE_PYTORCH_KERNEL_CACHE", "0");
    // A zygote with worker threads would fork children that hang: every pool has one thread.
    values.put("OMP_NUM_THREADS", "1");
    values.put("OPENBLAS_NUM_THREADS", "1");
    values.put("MKL_NUM_THREADS", "1");
    return values;
  }

  private static boolean misleading(String variable) {
    return variable.startsWith("TRITON_")
        || variable.startsWith("TORCH")
        || variable.startsWith("WATCHDOG_")
        || variable.equals("NOTIFY_SOCKET") // systemd hears of this service from the JVM alone.
        || variable.equals("PYTHONSTARTUP")
        || variable.equals("PYTHONHOME")
        || variable.equals("LD_PRELOAD");
  }

  /** Waits for the first frame and checks the protocol version. */
  public Message.Hello greeting() throws InterruptedException {
    try {
      Message.Hello first = hello.get(START_LIMIT.toSeconds(), TimeUnit.SECONDS);
      if (first.protocol() != Message.PROTOCOL) {
        throw new WorkerFailure(
            "the %s speaks protocol %d, this kbx speaks %d: they come from different versions"
                .formatted(role, first.protocol(), Message.PROTOCOL));
      }
      return first;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof WorkerFailure failure) throw failure;
      throw new WorkerFailure("the " + role + " did not start", e);
    } catch (TimeoutException e) {
      throw new WorkerFailure(
          "the %s did not answer within %d s of its start%s"
              .formatted(role, START_LIMIT.toSeconds(), lastWords()),
          e);
    }
  }

  void send(int channel, Message message) throws IOException {
    frames.write(channel, message);
  }

  /** Sends a frame whose payload is a message of another protocol. */
  public void send(int channel, byte[] payload) throws IOException {
    frames.write(channel, payload);
  }

  boolean alive() {
    return process.isAlive();
  }

  long pid() {
    return process.pid();
  }

  /** Closes stdin, waits a moment, then kills the process. */
  @Override
  public void close() {
    try {
      process.getOutputStream().close();
    } catch (IOException ignored) {
      // The process has ended already.
    }
    try {
      if (!process.waitFor(5, TimeUnit.SECONDS)) process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  private void read(Listener listener, Thread errors) {
    @Nullable Throwable cause = null;
    try {
      Frames.Frame frame;
      while ((frame = frames.read()) != null) {
        if (!hello.isDone()) greet(frame);
        else listener.frame(frame);
      }
    } catch (IOException | Frames.Unreadable | RuntimeException | Error e) {
      cause = e; // Even a bug in kbx must end the process, since nobody reads from it any more.
    }
    WorkerFailure why = failure(cause, errors);
    hello.completeExceptionally(why);
    listener.ended(why);
  }

  private void greet(Frames.Frame frame) throws Frames.Unreadable {
    if (!(Frames.parse(frame.payload()) instanceof Message.Hello first)) {
      throw new Frames.Unreadable(
          "its first message is not a greeting", new IllegalStateException());
    }
    hello.complete(first);
  }

  private WorkerFailure failure(@Nullable Throwable cause, Thread errors) {
    String how = "";
    try {
      if (process.waitFor(5, TimeUnit.SECONDS)) how = " with exit code " + process.exitValue();
      else process.destroyForcibly();
      errors.join(Duration.ofSeconds(1)); // Its last output may still be on its way.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    String message = "the " + role + " ended" + how + lastWords();
    return cause == null ? new WorkerFailure(message) : new WorkerFailure(message, cause);
  }

  private void drain(InputStream stream, Listener listener) {
    Consumer<String> keep =
        line -> {
          if (line.startsWith(NOTICE)) {
            listener.notice(line.substring(NOTICE.length()));
            return;
          }
          if (line.isBlank()) return;
          synchronized (stderr) {
            stderr.addLast(line);
            if (stderr.size() > STDERR_LINES) stderr.removeFirst();
          }
        };
    try (var reader =
        new java.io.BufferedReader(new java.io.InputStreamReader(stream, StandardCharsets.UTF_8))) {
      reader.lines().forEach(keep);
    } catch (IOException | java.io.UncheckedIOException e) {
      keep.accept("(stderr: " + e.getMessage() + ")");
    }
  }

  private String lastWords() {
    synchronized (stderr) {
      return stderr.isEmpty() ? "" : "; it last said: " + stderr.getLast().strip();
    }
  }
}

package dev.kbx.cli;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Has a {@link Daemon} run this process's command, which is started if there is none. Whatever
 * keeps a daemon from accepting the command is silent: the process then runs it itself.
 */
final class DaemonClient {
  /** What the launcher found out about this process's terminal. */
  static final List<String> PROPERTIES =
      List.of("kbx.stdout.tty", "kbx.stderr.tty", "kbx.columns", "kbx.program");

  /** For a daemon to begin. */
  private static final Duration START = Duration.ofSeconds(10);

  /** For a daemon that listens to say whether it accepts. */
  private static final Duration ANSWER = Duration.ofSeconds(2);

  /** For a command to end after it was interrupted; longer than {@link Interrupts} takes. */
  private static final Duration STOP = Duration.ofSeconds(10);

  private final DaemonChannel channel;
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile @Nullable Integer exit;

  private DaemonClient(DaemonChannel channel) {
    this.channel = channel;
  }

  /** Runs a command; its exit code, or empty if no daemon has begun to. */
  static OptionalInt run(String[] arguments) {
    if (!DaemonTerms.allow(arguments)) return OptionalInt.empty();
    Optional<DaemonChannel> accepted;
    try {
      accepted = accepted();
    } catch (IOException | RuntimeException e) {
      return OptionalInt.empty();
    }
    if (accepted.isEmpty()) return OptionalInt.empty();
    try (DaemonChannel channel = accepted.get()) {
      return OptionalInt.of(new DaemonClient(channel).run(List.of(arguments)));
    } catch (IOException e) {
      Terminal.say("the daemon cannot be reached: " + e.getMessage());
      return OptionalInt.of(ExitCode.INCOMPLETE);
    }
  }

  private static Optional<DaemonChannel> accepted() throws IOException {
    Optional<Path> folder = DaemonTerms.folder();
    List<String> terms = DaemonTerms.ofThisProcess();
    if (folder.isEmpty() || DaemonTerms.limitTime(terms)) return Optional.empty();
    Path socket = folder.get().resolve(Daemon.SOCKET);
    if (Files.exists(socket)) {
      try {
        DaemonChannel running = DaemonChannel.connect(socket);
        int answer = answer(running, terms);
        if (answer == DaemonChannel.ACCEPTS) return Optional.of(running);
        running.close();
        if (answer == DaemonChannel.IS_BUSY) return Optional.empty();
      } catch (IOException e) {
        // It has been killed, or is just ending.
      }
    }
    DaemonChannel started = started(socket);
    if (answer(started, terms) == DaemonChannel.ACCEPTS) return Optional.of(started);
    started.close();
    return Optional.empty();
  }

  /** Closes the connection if there is no answer: then the command is not run there, either. */
  private static int answer(DaemonChannel channel, List<String> terms) throws IOException {
    Thread patience =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              try {
                Thread.sleep(ANSWER);
                channel.close();
              } catch (InterruptedException | IOException e) {
                // It has been answered, or is closed.
              }
            });
    channel.write(terms);
    int answer = channel.read();
    patience.interrupt();
    return answer;
  }

  private static DaemonChannel started(Path socket) throws IOException {
    Process daemon = start();
    long end = System.nanoTime() + START.toNanos();
    while (daemon.isAlive() && System.nanoTime() - end < 0) {
      try {
        if (Files.exists(socket)) return DaemonChannel.connect(socket);
      } catch (IOException e) {
        // It does not listen yet.
      }
      try {
        Thread.sleep(5);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    throw new IOException("no daemon");
  }

  /**
   * Starts a daemon as this process was started, in a session of its own, where no Ctrl-C comes.
   */
  private static Process start() throws IOException {
    List<String> own = List.of(Files.readString(Path.of("/proc/self/cmdline")).split("\0", -1));
    int main = own.indexOf(Main.class.getName());
    if (main < 0) throw new IOException("started otherwise");
    List<String> command = new ArrayList<>(List.of("setsid"));
    own.subList(0, main).stream()
        .filter(word -> PROPERTIES.stream().noneMatch(name -> word.startsWith("-D" + name + "=")))
        .forEach(command::add);
    command.add("-XX:+ExitOnOutOfMemoryError"); // The next command must not meet what is left.
    command.add(Daemon.class.getName());
    ProcessBuilder builder = new ProcessBuilder(command);
    return builder
        .redirectInput(new File("/dev/null"))
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private int run(List<String> arguments) throws IOException {
    Thread hook = new Thread(this::stop, "interrupt");
    Runtime.getRuntime().addShutdownHook(hook);
    channel.write(arguments);
    channel.write(
        PROPERTIES.stream()
            .filter(name -> System.getProperty(name) != null)
            .map(name -> name + "=" + System.getProperty(name))
            .toList());
    relay();
    over.countDown();
    try {
      boolean _ = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return ExitCode.INCOMPLETE; // The hook ends this process.
    }
    Integer code = exit;
    if (code != null) return code;
    Terminal.say("the daemon has ended; the same command with --resume goes on where this stopped");
    return ExitCode.INCOMPLETE;
  }

  /** Prints what the command does, until it or the daemon ends. */
  private void relay() {
    try {
      for (int kind; (kind = channel.read()) >= 0; ) {
        if (kind == DaemonChannel.EXIT) {
          exit = channel.readNumber();
          return;
        }
        PrintStream to = kind == DaemonChannel.OUT ? System.out : System.err;
        byte[] text = channel.readBytes();
        to.write(text, 0, text.length);
        to.flush();
      }
    } catch (IOException e) {
      // The daemon has ended.
    }
  }

  /**
   * Tells the daemon of Ctrl-C or SIGTERM, and ends with the exit code that the command then has.
   */
  private void stop() {
    try {
      channel.write('i');
      boolean _ = over.await(STOP.toSeconds(), TimeUnit.SECONDS);
    } catch (IOException | InterruptedException e) {
      return;
    }
    Integer code = exit;
    if (code != null) Runtime.getRuntime().halt(code);
  }
}

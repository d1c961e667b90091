package dev.kbx.cli;

import dev.kbx.worker.ScratchFolder;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Runs {@code kbx eval} for other processes of its user, one command at a time, with a JVM and
 * workers that are warm; ends when it has been idle for a while. {@link DaemonClient} starts it.
 *
 * <p>It differs from {@code --watch} in nothing that a candidate can reach: each has fresh runners,
 * which end before the command does. A command that is interrupted, or whose process is gone, ends
 * the daemon.
 */
final class Daemon {
  static final String SOCKET = "socket";
  private static final String LOCK = "lock";

  /** Seconds without a command after which a daemon ends. */
  private static final String IDLE_VARIABLE = "KBX_DAEMON_IDLE";

  private static final Duration IDLE = Duration.ofMinutes(10);

  /** How long one that is about to begin waits for another that is about to end. */
  private static final Duration SUCCESSION = Duration.ofSeconds(2);

  private final Path socket;
  private final List<String> terms;
  private final Duration idle;
  private final WarmWorkers workers = new WarmWorkers();
  private final AtomicBoolean busy = new AtomicBoolean();
  private final Selector selector;
  private volatile long lastUse = System.nanoTime();
  private volatile boolean leaving;

  private Daemon(Path folder, List<String> terms, Duration idle) throws IOException {
    this.socket = folder.resolve(SOCKET);
    this.terms = terms;
    this.idle = idle;
    this.selector = Selector.open();
  }

  /**
   * Serves until it has been idle for long, or a command has other terms. One that finds another in
   * its place ends at once.
   */
  static void main(String[] arguments) throws IOException, InterruptedException {
    Main.quietLibraries();
    Path folder = DaemonTerms.folder().orElseThrow();
    String named = System.getenv(IDLE_VARIABLE);
    Duration idle = named == null ? IDLE : Duration.ofSeconds(Long.parseLong(named));
    Daemon daemon = new Daemon(folder, DaemonTerms.ofThisProcess(), idle);
    try (FileChannel file =
            FileChannel.open(
                folder.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = locked(file)) {
      if (lock != null) daemon.serve();
    }
    daemon.workers.close();
    ScratchFolder.deleteAndHalt(ExitCode.OK);
  }

  private static @Nullable FileLock locked(FileChannel file)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + SUCCESSION.toNanos();
    while (true) {
      FileLock lock = file.tryLock();
      if (lock != null || System.nanoTime() - end > 0) return lock;
      Thread.sleep(10);
    }
  }

  private void serve() throws IOException {
    boolean _ = Files.deleteIfExists(socket); // Of one that was killed.
    Thread hook = new Thread(() -> delete(socket), "daemon-end");
    Runtime.getRuntime().addShutdownHook(hook);
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket)).configureBlocking(false);
      SelectionKey _ = server.register(selector, SelectionKey.OP_ACCEPT);
      while (!leaving) {
        long left = idle.toMillis() - (System.nanoTime() - lastUse) / 1_000_000;
        if (left <= 0 && !busy.get()) break;
        int _ = selector.select(Math.max(left, 1_000));
        selector.selectedKeys().clear();
        SocketChannel client = server.accept();
        if (client != null) Thread.ofPlatform().daemon().start(() -> serve(client));
      }
    } finally {
      // Before the next one may begin.
      delete(socket);
    }
  }

  /** Accepts no more commands. */
  private void leave() {
    leaving = true;
    delete(socket);
  }

  private static void delete(Path socket) {
    try {
      boolean _ = Files.deleteIfExists(socket);
    } catch (IOException e) {
      // The next one deletes it.
    }
  }

  private void serve(SocketChannel client) {
    try (client;
        DaemonChannel channel = new DaemonChannel(client)) {
      boolean same = channel.readTexts().equals(terms);
      if (busy.getAndSet(true)) {
        channel.write(DaemonChannel.IS_BUSY);
        return;
      }
      try {
        if (!same) leave();
        channel.write(same ? DaemonChannel.ACCEPTS : DaemonChannel.DIFFERS);
        if (same) new Run(channel).run();
      } finally {
        lastUse = System.nanoTime();
        busy.set(false);
        Selector _ = selector.wakeup();
      }
    } catch (IOException e) {
      // It has ended, or is somebody else's.
    }
  }

  /** A command. */
  private final class Run {
    private final DaemonChannel channel;
    private final AtomicBoolean over = new AtomicBoolean();

    Run(DaemonChannel channel) {
      this.channel = channel;
    }

    void run() throws IOException {
      List<String> arguments = channel.readTexts();
      Properties own = System.getProperties();
      own.keySet().removeAll(DaemonClient.PROPERTIES);
      for (String property : channel.readTexts()) {
        String[] parts = property.split("=", 2);
        own.put(parts[0], parts[1]);
      }
      Charset charset = System.out.charset();
      PrintStream err = stream(DaemonChannel.ERR, charset);
      System.setOut(stream(DaemonChannel.OUT, charset));
      System.setErr(err);
      Thread.ofPlatform().daemon().start(() -> stopWithClient(err));
      int exit = Main.run(workers, arguments.toArray(String[]::new));
      if (over.getAndSet(true)) waitForTheEnd();
      channel.writeExit(exit);
    }

    private PrintStream stream(int kind, Charset charset) {
      var buffered = new BufferedOutputStream(channel.stream(kind));
      return new PrintStream(buffered, true, charset);
    }

    /** Waits until the command's process is interrupted or gone, and then stops as that would. */
    private void stopWithClient(PrintStream err) {
      try {
        int _ = channel.read();
      } catch (IOException e) {
        // It is gone.
      }
      if (over.getAndSet(true)) return;
      leave();
      OptionalInt exit = Interrupts.stop(err);
      try {
        if (exit.isPresent()) channel.writeExit(exit.getAsInt());
      } catch (IOException e) {
        // It is gone.
      }
      ScratchFolder.deleteAndHalt(ExitCode.INCOMPLETE);
    }

    private static void waitForTheEnd() {
      while (true) {
        try {
          Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
          // Once more.
        }
      }
    }
  }
}

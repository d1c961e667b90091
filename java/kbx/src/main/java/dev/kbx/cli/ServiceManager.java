package dev.kbx.cli;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * systemd, if it has started this process as a service of type {@code notify}: told when the
 * service is ready and when it ends, and, where it has a watchdog, every now and then that the
 * service is alive. Without systemd nothing happens.
 *
 * <p>A message is a datagram to a Unix socket, which the JDK's own classes cannot send. It comes
 * from this very process: a helper would need {@code NotifyAccess=all}, by which a candidate could
 * say that all is well.
 */
final class ServiceManager implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("dev.kbx.server");
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
  private static final int MOST_PATH = 107;

  private final Optional<String> socket;
  private final Optional<Duration> watchdog;
  private @Nullable Thread pings;

  private ServiceManager(Optional<String> socket, Optional<Duration> watchdog) {
    this.socket = socket;
    this.watchdog = watchdog;
  }

  /** The service manager that the environment of the process names. */
  static ServiceManager of(Map<String, String> environment) {
    return new ServiceManager(
        Optional.ofNullable(environment.get("NOTIFY_SOCKET"))
            .filter(path -> path.startsWith("/") || path.startsWith("@")),
        Optional.ofNullable(environment.get("WATCHDOG_USEC"))
            .filter(text -> text.matches("[1-9]\\d{0,17}"))
            .map(micros -> Duration.ofNanos(1_000 * Long.parseLong(micros))));
  }

  /**
   * Says that the service is ready, and from now on at twice the pace of the watchdog that it is
   * alive, as long as it is.
   */
  void ready(BooleanSupplier alive) {
    tell("READY=1");
    if (socket.isEmpty() || watchdog.isEmpty()) return;
    Duration pause = watchdog.get().dividedBy(2);
    pings = Thread.ofPlatform().daemon().name("watchdog").start(() -> ping(pause, alive));
  }

  private void ping(Duration pause, BooleanSupplier alive) {
    try {
      while (true) {
        if (alive.getAsBoolean()) tell("WATCHDOG=1");
        Thread.sleep(pause);
      }
    } catch (InterruptedException e) {
      // The service ends.
    }
  }

  /** Says that the service ends. */
  void stopping() {
    tell("STOPPING=1");
  }

  @Override
  public void close() {
    Thread running = pings;
    if (running != null) running.interrupt();
  }

  private void tell(String message) {
    socket.ifPresent(path -> {
      try {
        send(path, message);
      } catch (Throwable e) { // Of the service nothing depends on it.
        LOG.log(System.Logger.Level.WARNING, "systemd was not told %s: %s".formatted(message, e));
      }
    });
  }

  private static void send(String path, String message) throws Throwable {
    byte[] name = path.getBytes(UTF_8);
    if (name.length > MOST_PATH) throw new IllegalArgumentException("NOTIFY_SOCKET is too long");
    if (name[0] == '@') name[0] = 0; // A name that is in no folder.
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = arena.allocate(2L + MOST_PATH + 1);
      address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
      MemorySegment.copy(name, 0, address, ValueLayout.JAVA_BYTE, 2, name.length);
      byte[] bytes = message.getBytes(UTF_8);
      MemorySegment text = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
      int fd =
          (int)
              function("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT)
                  .invokeExact(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
      if (fd < 0) throw new IllegalStateException("no socket");
      try {
        MethodHandle sendto =
            function(
                "sendto", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
        long sent =
            (long) sendto.invokeExact(fd, text, (long) bytes.length, 0, address, 2 + name.length);
        if (sent != bytes.length) throw new IllegalStateException("nobody hears at " + path);
      } finally {
        int _ = (int) function("close", JAVA_INT, JAVA_INT).invokeExact(fd);
      }
    }
  }

  @SuppressWarnings("restricted") // The launcher allows it.
  private static MethodHandle function(
      String name, MemoryLayout result, MemoryLayout... parameters) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, parameters));
  }
}

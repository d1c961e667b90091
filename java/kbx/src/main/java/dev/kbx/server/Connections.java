package dev.kbx.server;

import io.helidon.common.socket.SocketOptions;
import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http1.Http1ConnectionListener;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The connections of the server. One that waits for its client ends when it has waited for too
 * long, and earlier if its place is needed: the web server accepts so many and no more, and whoever
 * said nothing would keep everybody else out. Safe for several threads.
 */
final class Connections implements Http1ConnectionListener, AutoCloseable {
  /** What a connection waits for, and how long. */
  private enum Wait {
    /** The first request of a connection; with TLS for its handshake, too. */
    FIRST_LINE(Duration.ofSeconds(10)),
    /** The end of the headers of a request, from its first line. */
    HEADERS(Duration.ofSeconds(20)),
    /** More of the body of a request. */
    BODY(Duration.ofSeconds(20)),
    /** Another request of a connection. */
    NEXT(Duration.ofSeconds(90));

    private final long nanos;

    Wait(Duration most) {
      this.nanos = most.toNanos();
    }
  }

  private static final Duration TICK = Duration.ofSeconds(1);

  /** The time that a client has for its next word before its place is given to another. */
  private static final Duration FRESH = Duration.ofSeconds(2);

  /** A connection that was accepted; all but its channel is guarded by the connections. */
  private static final class Connection {
    final SocketChannel channel;
    final String host;
    boolean asked;

    /** Null while the answer to a request is made. */
    @Nullable Wait wait = Wait.FIRST_LINE;

    long since = System.nanoTime();

    Connection(SocketChannel channel, SocketAddress from) {
      this.channel = channel;
      this.host = from instanceof InetSocketAddress inet ? inet.getHostString() : from.toString();
    }

    void begins(@Nullable Wait next) {
      wait = next;
      since = System.nanoTime();
    }

    boolean waits() {
      return wait != null;
    }

    boolean isFresh(long now) {
      return now - since < FRESH.toNanos();
    }

    boolean isLate(long now) {
      Wait waited = wait;
      return waited != null && now - since > waited.nanos;
    }
  }

  private final int most;
  private final int room;
  private final SocketOptions options = accepting(SocketOptions.create());
  private final Map<SocketAddress, Connection> open = new HashMap<>();
  private final Thread sweeper;

  /**
   * @param most connections that the web server accepts; some fewer are kept
   */
  Connections(int most) {
    this.most = most;
    this.room = Math.max(1, most / 50);
    this.sweeper = Thread.ofVirtual().name("connections").start(this::sweep);
  }

  /** What the web server must be given: it says there which connections it accepts. */
  SocketOptions options() {
    return options;
  }

  private synchronized void accepted(SocketChannel channel) {
    try {
      SocketAddress from = channel.getRemoteAddress();
      open.put(from, new Connection(channel, from));
    } catch (IOException e) {
      throw new UncheckedIOException(e); // It has gone: the web server forgets it.
    }
    makeRoom();
  }

  @Override
  public synchronized void prologue(ConnectionContext context, HttpPrologue prologue) {
    Connection connection = of(context.remotePeer().address());
    connection.asked = true;
    connection.begins(Wait.HEADERS);
  }

  @Override
  public synchronized void headers(ConnectionContext context, Headers headers) {
    of(context.remotePeer().address()).begins(null);
  }

  /** Some of a body, as {@link InputStream#read(byte[])}. */
  int read(ServerRequest request, InputStream body, byte[] buffer) throws IOException {
    begins(request, Wait.BODY);
    int read = body.read(buffer);
    begins(request, null);
    return read;
  }

  /** The answer to a request is sent: what comes now is up to the client. */
  void answered(ServerRequest request) {
    begins(request, Wait.NEXT);
  }

  private synchronized void begins(ServerRequest request, @Nullable Wait wait) {
    of(request.remotePeer().address()).begins(wait);
  }

  /** Throws if it was ended: its request must not be begun. */
  private Connection of(SocketAddress from) {
    Connection connection = open.get(from);
    if (connection == null || !connection.channel.isOpen()) {
      throw new CloseConnectionException("ended to make room");
    }
    return connection;
  }

  private void sweep() {
    try {
      while (true) {
        Thread.sleep(TICK);
        endLate();
      }
    } catch (InterruptedException e) {
      // It is closed.
    }
  }

  private synchronized void endLate() {
    long now = System.nanoTime();
    open.values().stream().filter(each -> each.isLate(now)).forEach(Connections::end);
    makeRoom();
    open.values().removeIf(each -> !each.channel.isOpen());
  }

  /**
   * Ends connections until there is room for others: of the address that has most of them, those
   * that have waited for a while first, of these those that never asked anything, of these the
   * oldest.
   */
  private void makeRoom() {
    if (open.size() <= most - room) return;
    open.values().removeIf(each -> !each.channel.isOpen());
    int over = open.size() - (most - 2 * room);
    if (over <= room) return;
    long now = System.nanoTime();
    Map<String, Integer> held = new HashMap<>();
    List<Connection> waiting = open.values().stream().filter(Connection::waits).toList();
    waiting.forEach(each -> held.merge(each.host, 1, Integer::sum));
    waiting.stream()
        .sorted(
            Comparator.<Connection>comparingInt(each -> -held.getOrDefault(each.host, 0))
                .thenComparing(each -> each.isFresh(now))
                .thenComparing(each -> each.asked && !each.isFresh(now))
                .thenComparingLong(each -> each.since))
        .limit(over)
        .forEach(Connections::end);
    open.values().removeIf(each -> !each.channel.isOpen());
  }

  /** Whoever reads from it is told so. */
  private static void end(Connection connection) {
    try {
      connection.channel.close();
    } catch (IOException e) {
      // It has ended.
    }
  }

  @Override
  public void close() {
    sweeper.interrupt();
  }

  /** Options as they are, of which the web server sets none before it asks for them. */
  private SocketOptions accepting(SocketOptions usual) {
    return (SocketOptions)
        Proxy.newProxyInstance(
            SocketOptions.class.getClassLoader(),
            new Class<?>[] {SocketOptions.class},
            (_, method, arguments) -> {
              try {
                Object option = method.invoke(usual, arguments);
                if (arguments != null && arguments[0] instanceof SocketChannel channel) {
                  accepted(channel);
                }
                return option;
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            });
  }
}

package dev.kbx.server;

import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1ConnectionListener;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;

/**
 * Ends connections whose headers take too long. The web server limits the pause between two bytes
 * alone: a byte now and then would hold a connection for days.
 */
final class HeadTimeout implements Http1ConnectionListener {
  private final Interrupts interrupts;
  private final Duration most;
  private final Map<ConnectionContext, Future<?>> reading = new ConcurrentHashMap<>();

  /**
   * @param most time from the first line of a request to the end of its headers
   */
  HeadTimeout(Interrupts interrupts, Duration most) {
    this.interrupts = interrupts;
    this.most = most;
  }

  @Override
  public void prologue(ConnectionContext connection, HttpPrologue prologue) {
    Thread reader = Thread.currentThread();
    reading.put(
        connection,
        interrupts.after(
            most,
            () -> {
              reading.remove(connection);
              reader.interrupt(); // A thread that is interrupted while it reads loses its socket.
            }));
  }

  @Override
  public void headers(ConnectionContext connection, Headers headers) {
    Future<?> timeout = reading.remove(connection);
    if (timeout != null) timeout.cancel(false);
  }
}

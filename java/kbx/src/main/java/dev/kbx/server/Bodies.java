package dev.kbx.server;

import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Semaphore;

/**
 * Bodies of requests, which may be large but not at the same time, and must not come too slowly.
 */
final class Bodies {
  /** Longest JSON body, bytes. */
  static final int MOST_JSON = 16 << 20;

  /** Longest file, bytes. */
  static final int MOST_FILE = 64 << 20;

  /** KiB of all bodies that are in memory: parsed they take several times as much. */
  private static final int BUDGET = 32 << 10;

  private static final int FIRST_BUFFER = 1 << 10;
  private static final int BUFFER = 64 << 10;

  /** A body may take so long, and longer if it comes at {@link #LEAST_RATE}. */
  private final Duration patience;

  /** Bytes a second. */
  private static final int LEAST_RATE = 64 << 10;

  private final Source source;
  private final Semaphore budget = new Semaphore(BUDGET, true);

  /**
   * @param patience for a small body
   */
  Bodies(Duration patience, Source source) {
    this.patience = patience;
    this.source = source;
  }

  /** Reads from the body of a request, and waits for its client for a limited time. */
  interface Source {
    int read(ServerRequest request, InputStream body, byte[] buffer) throws IOException;
  }

  /** Work on a body in memory. */
  interface Work<T> {
    T on(byte[] body);
  }

  /** Takes its part of a body. */
  private interface Sink {
    void write(byte[] buffer, int length) throws IOException;
  }

  /**
   * @param most bytes
   */
  <T> T inMemory(ServerRequest request, int most, Work<T> work) {
    if (request.headers().contentLength().orElse(-1) > most) throw tooLarge(most);
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    int[] taken = {0};
    try {
      // What has come counts, not what was announced: who only announces holds nothing.
      copy(
          request,
          most,
          (buffer, length) -> {
            taken[0] += take(body.size() + length, taken[0]);
            body.write(buffer, 0, length);
          });
      return work.on(body.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      budget.release(taken[0]);
    }
  }

  /** Takes from the budget what so many bytes need beyond what they have. */
  private int take(int bytes, int had) {
    int more = (bytes >> 10) + 1 - had;
    if (more <= 0) return 0;
    if (!budget.tryAcquire(more)) {
      throw Refusal.later(503, "too many large requests at a time; try again", 1);
    }
    return more;
  }

  /** Writes a body to a file. */
  void toFile(ServerRequest request, Path file) throws IOException {
    if (request.headers().contentLength().orElse(-1) > MOST_FILE) throw tooLarge(MOST_FILE);
    try (OutputStream out = Scratch.create(file)) {
      copy(request, MOST_FILE, (buffer, length) -> out.write(buffer, 0, length));
    }
  }

  private void copy(ServerRequest request, int most, Sink sink) throws IOException {
    long start = System.nanoTime();
    // Not closed: that waits for more of the body, and so would the answer to a slow one.
    InputStream in = request.content().inputStream();
    byte[] buffer = new byte[FIRST_BUFFER];
    long all = 0;
    for (int read = read(request, in, buffer); read >= 0; read = read(request, in, buffer)) {
      all += read;
      if (all > most) throw tooLarge(most);
      needPace(all, System.nanoTime() - start);
      sink.write(buffer, read);
      // No larger than what has come: thousands may wait with one.
      if (all > buffer.length) buffer = new byte[(int) Math.min(BUFFER, all)];
    }
  }

  private int read(ServerRequest request, InputStream in, byte[] buffer) throws IOException {
    try {
      return source.read(request, in, buffer);
    } catch (CloseConnectionException | UncheckedIOException e) {
      throw e; // The client has gone.
    } catch (RequestException e) {
      throw Refusal.closing(e.status().code(), String.valueOf(e.getMessage()));
    } catch (RuntimeException e) { // The web server takes sizes of chunks for numbers.
      throw Refusal.closing(400, "the body is not as long as it says, or its chunks are not");
    }
  }

  private void needPace(long bytes, long nanos) {
    double allowed = patience.toNanos() / 1e9 + (double) bytes / LEAST_RATE;
    if (nanos / 1e9 > allowed) {
      throw Refusal.closing(408, "the body comes too slowly; send at least 64 KiB a second");
    }
  }

  private static Refusal tooLarge(int most) {
    String size = most < 1 << 20 ? (most >> 10) + " KiB" : (most >> 20) + " MiB";
    return Refusal.closing(413, "the body is too large; at most %s at a time".formatted(size));
  }
}

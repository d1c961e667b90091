package dev.kbx.server;

import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;

/** Bodies of requests, which may be large but not at the same time. */
final class Bodies {
  /** Longest JSON body, bytes. */
  static final int MOST_JSON = 16 << 20;

  /** Longest file, bytes. */
  static final int MOST_FILE = 64 << 20;

  /** KiB of all bodies that are in memory: parsed they take several times as much. */
  private static final int BUDGET = 32 << 10;

  private final Semaphore budget = new Semaphore(BUDGET, true);

  /** Work on a body in memory. */
  interface Work<T> {
    T on(byte[] body);
  }

  <T> T inMemory(ServerRequest request, Work<T> work) {
    long length = request.headers().contentLength().orElse(-1);
    if (length > MOST_JSON) throw tooLarge(MOST_JSON);
    int share = (int) ((length < 0 ? MOST_JSON : length) >> 10) + 1;
    if (!budget.tryAcquire(share)) {
      throw Refusal.later(503, "too many large requests at a time; try again", 1);
    }
    try (InputStream in = request.content().inputStream()) {
      byte[] body = in.readNBytes(MOST_JSON + 1);
      if (body.length > MOST_JSON) throw tooLarge(MOST_JSON);
      return work.on(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      budget.release(share);
    }
  }

  /** Writes a body to a file. */
  static void toFile(ServerRequest request, Path file) throws IOException {
    if (request.headers().contentLength().orElse(-1) > MOST_FILE) throw tooLarge(MOST_FILE);
    try (InputStream in = request.content().inputStream();
        OutputStream out = Files.newOutputStream(file)) {
      byte[] buffer = new byte[1 << 16];
      long all = 0;
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        all += read;
        if (all > MOST_FILE) throw tooLarge(MOST_FILE);
        out.write(buffer, 0, read);
      }
    }
  }

  private static Refusal tooLarge(int most) {
    return Refusal.of(413, "the body is too large; at most %d MiB at a time".formatted(most >> 20));
  }
}

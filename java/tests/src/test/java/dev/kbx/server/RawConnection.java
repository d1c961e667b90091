package dev.kbx.server;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A socket to a server, for what no well-behaved client sends. */
final class RawConnection implements AutoCloseable {
  private static final int MOST_WAIT_MILLIS = 240_000;

  private final Socket socket = new Socket();
  private final InputStream in;

  private RawConnection(int port, int receiveBuffer) throws IOException {
    if (receiveBuffer > 0) socket.setReceiveBufferSize(receiveBuffer);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), MOST_WAIT_MILLIS);
    socket.setSoTimeout(MOST_WAIT_MILLIS);
    in = socket.getInputStream();
  }

  static RawConnection to(String url) throws IOException {
    return new RawConnection(URI.create(url).getPort(), 0);
  }

  /** One that takes so few bytes that it does not read yet. */
  static RawConnection narrow(String url) throws IOException {
    return new RawConnection(URI.create(url).getPort(), 4 << 10);
  }

  /**
   * What the server answered.
   *
   * @param headers by their names in lower case
   */
  record Answer(int status, Map<String, String> headers, String body) {}

  /** For the next answer: longer is a failure. */
  void patience(Duration most) throws IOException {
    socket.setSoTimeout((int) most.toMillis());
  }

  RawConnection send(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.US_ASCII), text.length());
  }

  RawConnection send(byte[] bytes, int length) throws IOException {
    socket.getOutputStream().write(bytes, 0, length);
    return this;
  }

  /** Says that nothing more comes; answers can be read still. */
  RawConnection end() throws IOException {
    socket.shutdownOutput();
    return this;
  }

  /** Ends without a word, as a process that was killed. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  /** Sends as much as the server takes: it may answer before the end. */
  RawConnection push(String text) {
    try {
      return send(text);
    } catch (IOException e) {
      return this;
    }
  }

  /** The next answer; of a stream the head alone. */
  Answer answer() throws IOException {
    Answer head = head();
    int length = Integer.parseInt(head.headers().getOrDefault("content-length", "0"));
    String body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
    return new Answer(head.status(), head.headers(), body);
  }

  /** The next answer, which has no body whatever its headers say. */
  Answer head() throws IOException {
    int status = Integer.parseInt(line().split(" ", 3)[1]);
    Map<String, String> headers = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      String[] parts = line.split(":", 2);
      headers.put(parts[0].toLowerCase(Locale.ROOT), parts[1].strip());
    }
    return new Answer(status, headers, "");
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) throw new EOFException("closed after '%s'".formatted(line));
      if (next != '\r') line.append((char) next);
    }
    return line.toString();
  }

  /** Whether the server ends the connection in this time; what it sends before is dropped. */
  boolean endsWithin(Duration most) throws IOException {
    long end = System.nanoTime() + most.toNanos();
    byte[] dropped = new byte[1 << 16];
    try {
      while (true) {
        long left = (end - System.nanoTime()) / 1_000_000;
        if (left <= 0) return false;
        socket.setSoTimeout((int) left);
        if (in.read(dropped) < 0) return true;
      }
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true; // It was reset.
    } finally {
      socket.setSoTimeout(MOST_WAIT_MILLIS);
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}

package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that misbehave, against a process with the launcher's limit of memory: each is bounded,
 * and others are served meanwhile.
 */
@Tag("soak-only")
@Timeout(Patience.SECONDS)
class HostileClientsTest {
  private static final int STREAMS = 10_000;
  private static final long MOST_MEMORY = 1_000_000_000;

  @TempDir private static Path folder;

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private static ServerProcess server;
  private static String token;

  @BeforeAll
  static void start() throws Exception {
    String file = folder.resolve("kbx.db").toString();
    try (RunStore store = RunStore.open(StoreAddress.of(Path.of(file)))) {
      token = new Tokens(store.service()).create("good", List.of("submit", "read")).orElseThrow();
    }
    server = ServerProcess.start(file, folder, true, 1_000);
  }

  @AfterAll
  static void stop() throws IOException {
    assertThat(server.peakBytes()).isLessThan(MOST_MEMORY);
    server.close();
  }

  /** Whether a client that behaves is served at once. */
  private static void served() throws Exception {
    HttpResponse<String> response =
        HTTP.send(
            HttpRequest.newBuilder(URI.create(server.url() + "/v1/queue"))
                .timeout(Duration.ofSeconds(20))
                .header("Authorization", "Bearer " + token)
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
  }

  private static Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), server.port());
  }

  private static void send(Socket socket, String text) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(text.getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  /** Sends a byte a second until the server ends the connection; what it answered. */
  private static String drip(Socket socket, String bytes) throws Exception {
    StringBuilder answer = new StringBuilder();
    socket.setSoTimeout(1_000);
    InputStream in = socket.getInputStream();
    try {
      while (true) {
        send(socket, bytes);
        try {
          int read = in.read();
          if (read < 0) return answer.toString();
          answer.append((char) read);
          in.transferTo(OutputStream.nullOutputStream());
          return answer.toString();
        } catch (java.net.SocketTimeoutException e) {
          // Nothing yet.
        }
      }
    } catch (IOException e) {
      return answer.toString(); // Closed.
    }
  }

  @Test
  void headersThatNeverEndAreCutOff() throws Exception {
    List<Thread> slow = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      slow.add(
          Thread.startVirtualThread(() -> {
            try (Socket socket = connect()) {
              send(socket, "GET /v1/queue HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
              String _ = drip(socket, "x");
            } catch (Exception e) {
              throw new IllegalStateException(e);
            }
          }));
    }
    served();
    for (Thread each : slow) each.join();
    served();
  }

  @Test
  void bodiesThatNeverEndAreCutOff() throws Exception {
    List<Thread> slow = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      slow.add(
          Thread.startVirtualThread(() -> {
            try (Socket socket = connect()) {
              send(
                  socket,
                  "POST /v1/judgements HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                          .formatted(token)
                      + "Content-Type: application/json\r\nContent-Length: 10000000\r\n\r\n{");
              String _ = drip(socket, " ");
            } catch (Exception e) {
              throw new IllegalStateException(e);
            }
          }));
    }
    served();
    HttpResponse<String> accepted =
        HTTP.send(
            HttpRequest.newBuilder(URI.create(server.url() + "/v1/judgements?wait=20"))
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"task\": \"relu\", \"code\": \"x = 1\"}"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(accepted.statusCode()).as(accepted.body()).isEqualTo(200);
    for (Thread each : slow) each.join();
    served();
  }

  @Test
  void largeBodiesAreRefusedBeforeTheyAreInMemory() throws Exception {
    for (String length : List.of("Content-Length: 200000000", "Transfer-Encoding: chunked")) {
      try (Socket socket = connect()) {
        send(
            socket,
            "POST /v1/judgements HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                    .formatted(token)
                + "Content-Type: application/json\r\n"
                + length
                + "\r\n\r\n");
        assertThat(flood(socket, length.startsWith("Transfer"))).startsWith("HTTP/1.1 413");
      }
      served();
    }
  }

  /** Sends 200 MB, or as much as is taken; the first line of the answer. */
  private static String flood(Socket socket, boolean chunked) throws Exception {
    byte[] part = new byte[1 << 20];
    Thread writer =
        Thread.startVirtualThread(() -> {
          try {
            OutputStream out = socket.getOutputStream();
            for (int i = 0; i < 200; i++) {
              if (chunked) out.write("100000\r\n".getBytes(StandardCharsets.US_ASCII));
              out.write(part);
              if (chunked) out.write("\r\n".getBytes(StandardCharsets.US_ASCII));
            }
          } catch (IOException e) {
            // It is refused.
          }
        });
    byte[] line = socket.getInputStream().readNBytes(12);
    socket.close();
    writer.join();
    return new String(line, StandardCharsets.US_ASCII);
  }

  @Test
  void eventStreamsAreBounded() throws Exception {
    HttpResponse<String> one =
        HTTP.send(
            HttpRequest.newBuilder(URI.create(server.url() + "/v1/judgements?wait=20"))
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"task\": \"relu\", \"code\": \"x = 2\"}"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    String run = dev.kbx.verdict.Json.mapper().readTree(one.body()).path("run").asString();
    AtomicInteger open = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    List<Socket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < STREAMS; i++) {
        Socket socket = connect();
        sockets.add(socket);
        send(
            socket,
            "GET /v1/runs/%s/events?follow=true HTTP/1.1\r\nHost: localhost\r\n".formatted(run)
                + "Authorization: Bearer %s\r\n\r\n".formatted(token));
        Thread.startVirtualThread(() -> {
          try {
            byte[] first = socket.getInputStream().readNBytes(12);
            boolean ok = new String(first, StandardCharsets.US_ASCII).endsWith("200");
            (ok ? open : refused).incrementAndGet();
          } catch (IOException e) {
            refused.incrementAndGet();
          }
        });
      }
      await().atMost(Patience.LIMIT).until(() -> open.get() + refused.get() >= STREAMS);
      assertThat(open.get()).isBetween(1, 1_000);
      served();
    } finally {
      for (Socket each : sockets) each.close();
    }
    served();
  }

  /** A valid token is served beside them; what they cost is shown by the bench. */
  @Test
  void invalidTokensAtFullSpeedAreSlowedDown() throws Exception {
    AtomicInteger sent = new AtomicInteger();
    double before = server.processorSeconds();
    long start = System.nanoTime();
    List<Thread> guessing = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      guessing.add(
          Thread.startVirtualThread(() -> {
            while (System.nanoTime() - start < Duration.ofSeconds(5).toNanos()) guess(sent);
          }));
    }
    Thread.sleep(1_000);
    served();
    for (Thread each : guessing) each.join();
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        "invalid tokens: %.0f a second, %.2f s of a processor in %.1f s%n",
        sent.get() / seconds, server.processorSeconds() - before, seconds);
    assertThat(sent.get() / seconds).isLessThan(400);
  }

  private static void guess(AtomicInteger sent) {
    try {
      HttpResponse<String> response =
          HTTP.send(
              HttpRequest.newBuilder(URI.create(server.url() + "/v1/queue"))
                  .header("Authorization", "Bearer kbx_" + sent.get())
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(response.statusCode()).isIn(401, 429);
      sent.incrementAndGet();
    } catch (IOException e) {
      // Refused.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

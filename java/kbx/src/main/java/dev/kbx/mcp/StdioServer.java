package dev.kbx.mcp;

import dev.kbx.error.InputException;
import io.modelcontextprotocol.spec.McpSchema.ErrorCodes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Answers a client that has started this process: a message a line on stdin and stdout. */
public final class StdioServer {
  /** For what is being worked on when the client closes stdin. */
  private static final Duration GRACE = Duration.ofSeconds(20);

  private static final System.Logger LOG = System.getLogger("dev.kbx.mcp");
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final McpEndpoint endpoint = new McpEndpoint();
  private final ToolBackend backend;
  private final PrintStream out;

  /** Requests that are being worked on, by id. */
  private final Map<String, Thread> working = new ConcurrentHashMap<>();

  /**
   * @param out gets messages and nothing else
   */
  public StdioServer(ToolBackend backend, PrintStream out) {
    this.backend = backend;
    this.out = out;
  }

  /**
   * Answers until there is no more input, several requests at a time.
   *
   * @throws InterruptedException if interrupted, with all that is being worked on
   */
  public void serve(InputStream in) throws InterruptedException {
    // Who waits for input cannot be interrupted.
    Thread reader = Thread.ofPlatform().daemon().name("stdin").start(() -> read(in));
    try {
      reader.join();
      long end = System.nanoTime() + GRACE.toNanos();
      for (Thread each : working.values()) {
        boolean _ = each.join(Duration.ofNanos(Math.max(1, end - System.nanoTime())));
      }
    } finally {
      working.values().forEach(Thread::interrupt);
    }
  }

  private void read(InputStream in) {
    try (var lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!line.isBlank()) take(line);
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "no more input: {0}", e.toString());
    }
  }

  private void take(String line) {
    JsonNode message = parsed(line);
    if (message.path("method").asString("").equals("notifications/cancelled")) {
      Thread cancelled = working.remove(message.at("/params/requestId").toString());
      if (cancelled != null) cancelled.interrupt();
      return;
    }
    String id = message.path("id").toString();
    Thread worker = Thread.ofVirtual().name("mcp").unstarted(() -> answer(id, line));
    working.put(id, worker);
    worker.start();
  }

  private void answer(String id, String line) {
    Optional<String> answer = Optional.empty();
    try {
      answer = endpoint.answer(line, backend, this::send);
    } catch (InputException e) {
      answer =
          Optional.of(
              McpEndpoint.error(null, ErrorCodes.PARSE_ERROR, String.valueOf(e.getMessage())));
    } finally {
      // A call that was cancelled gets no answer.
      if (working.remove(id, Thread.currentThread())) answer.ifPresent(this::send);
    }
  }

  private static JsonNode parsed(String line) {
    try {
      return JSON.readTree(line);
    } catch (JacksonException e) {
      return JSON.missingNode(); // The endpoint says so.
    }
  }

  private void send(String message) {
    synchronized (out) {
      out.print(message);
      out.print('\n');
      out.flush();
    }
  }
}

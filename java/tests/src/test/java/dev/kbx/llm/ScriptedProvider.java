package dev.kbx.llm;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A provider of language models on this machine, in OpenAI's and Anthropic's formats, streaming and
 * not, that does what a script says: a function of the request. On plain sockets, as it must break
 * connections and fall silent.
 *
 * <p>A configuration leads to it by {@code base_url = "…"} with {@link #address}. Pauses between
 * attempts are short with {@code retry_seconds = 0.001}, silences with {@code timeout_seconds}.
 */
public final class ScriptedProvider implements AutoCloseable {
  private final ServerSocket server;
  private final Function<Asked, ScriptedReply> script;
  private final Duration latency;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Asked> asked = new CopyOnWriteArrayList<>();
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicInteger mostInFlight = new AtomicInteger();

  /**
   * A request.
   *
   * @param number of the request, from 1
   * @param headers names in lower case
   */
  public record Asked(int number, String path, Map<String, String> headers, JsonNode body) {
    public boolean isAnthropic() {
      return path.endsWith("/messages");
    }

    public boolean isStream() {
      return body.path("stream").asBoolean(false);
    }

    public String model() {
      return body.path("model").asString("");
    }

    /** The last message. */
    public String lastMessage() {
      JsonNode messages = body.path("messages");
      JsonNode content = messages.path(messages.size() - 1).path("content");
      if (!content.isArray()) return content.asString("");
      StringBuilder text = new StringBuilder();
      content.forEach(block -> text.append(block.path("text").asString("")));
      return text.toString();
    }
  }

  private ScriptedProvider(Function<Asked, ScriptedReply> script, Duration latency)
      throws IOException {
    this.server = new ServerSocket(0, 256, InetAddress.getLoopbackAddress());
    this.script = script;
    this.latency = latency;
  }

  public static ScriptedProvider start(Function<Asked, ScriptedReply> script) throws IOException {
    return start(script, Duration.ZERO);
  }

  /**
   * Starts a provider.
   *
   * @param latency before each reply
   */
  public static ScriptedProvider start(Function<Asked, ScriptedReply> script, Duration latency)
      throws IOException {
    ScriptedProvider provider = new ScriptedProvider(script, latency);
    var _ = provider.threads.submit(provider::accept);
    return provider;
  }

  /** The {@code base_url} in a configuration. */
  public String address() {
    return "http://127.0.0.1:" + server.getLocalPort() + "/v1";
  }

  /** All requests so far, in the order of arrival. */
  public List<Asked> asked() {
    return List.copyOf(asked);
  }

  public int requests() {
    return asked.size();
  }

  /** The largest number of requests that were in flight together. */
  public int mostInFlight() {
    return mostInFlight.get();
  }

  @Override
  public void close() throws IOException {
    closed.countDown();
    server.close();
    for (Socket socket : open) socket.close();
    threads.close();
  }

  private void accept() {
    while (true) {
      try {
        Socket socket = server.accept();
        socket.setTcpNoDelay(true);
        open.add(socket);
        var _ = threads.submit(() -> serve(socket));
      } catch (IOException e) {
        return; // Closed.
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      OutputStream out = socket.getOutputStream();
      for (Asked next = read(in); next != null; next = read(in)) {
        if (!answer(next, out)) break;
      }
    } catch (IOException | InterruptedException e) {
      // The client left.
    } finally {
      open.remove(socket);
    }
  }

  private @Nullable Asked read(InputStream in) throws IOException {
    String head = head(in);
    if (head.isEmpty()) return null;
    List<String> lines = head.lines().toList();
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (String line : lines.subList(1, lines.size())) {
      int colon = line.indexOf(':');
      headers.put(line.substring(0, colon), line.substring(colon + 1).strip());
    }
    int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
    String body = new String(in.readNBytes(length), UTF_8);
    synchronized (asked) {
      Asked request =
          new Asked(
              asked.size() + 1,
              lines.getFirst().split(" ", -1)[1],
              headers,
              JsonText.parse(body).orElseThrow());
      asked.add(request);
      return request;
    }
  }

  /** Up to the empty line; empty at the end of the stream. */
  private static String head(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    for (int b = in.read(); b >= 0; b = in.read()) {
      head.write(b);
      if (b == '\n' && head.toString(US_ASCII).endsWith("\r\n\r\n")) {
        return head.toString(US_ASCII).strip();
      }
    }
    return "";
  }

  /** Whether the connection stays. A request is in flight until its reply begins. */
  private boolean answer(Asked request, OutputStream out) throws IOException, InterruptedException {
    mostInFlight.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
    ScriptedReply reply;
    try {
      Thread.sleep(latency);
      reply = script.apply(request);
    } finally {
      inFlight.decrementAndGet();
    }
    return answer(request, reply, out);
  }

  private boolean answer(Asked request, ScriptedReply reply, OutputStream out)
      throws IOException, InterruptedException {
    switch (reply) {
      case ScriptedReply.Text text -> {
        out.write(ScriptedFormat.of(request, text));
        out.flush();
      }
      case ScriptedReply.Raw(int status, Map<String, String> headers, String body) ->
          out.write(ScriptedFormat.answer(status, headers, body));
      case ScriptedReply.Dropped(ScriptedReply.Text begun) -> {
        half(request, begun, out);
        return false;
      }
      case ScriptedReply.Silent(ScriptedReply.Text begun) -> {
        half(request, begun, out);
        closed.await();
        return false;
      }
    }
    out.flush();
    return true;
  }

  private static void half(Asked request, ScriptedReply.@Nullable Text begun, OutputStream out)
      throws IOException {
    if (begun == null) return;
    byte[] bytes = ScriptedFormat.of(request, begun);
    out.write(bytes, 0, bytes.length / 2);
    out.flush();
  }
}

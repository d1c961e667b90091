package dev.kbx.llm;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.llm.ModelFailure.Kind;
import dev.kbx.llm.ProviderLimits.Time;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.math.BigDecimal;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Sends a request to the provider, once, and reads the reply. */
final class Exchange implements AutoCloseable {
  private static final String LAST = "[DONE]";

  /** Bytes. No reply is longer; a broken server may send without end. */
  private static final long LONGEST = 16L << 20;

  /** How the JVM says that the other side speaks no TLS: "Unrecognized SSL message, …". */
  private static final String NO_TLS = "ecognized SSL message";

  /** How it says that the other side refused the handshake. */
  private static final String ALERT = "Received fatal alert";

  /** A connection for each request: if one is lost, one reply is. */
  private final HttpClient client;

  private final ModelSettings settings;
  private final @Nullable String key;
  private final Proxies proxies;
  private final Time time;

  Exchange(ModelSettings settings, @Nullable String key, Proxies proxies, Time time) {
    this.settings = settings;
    this.key = key;
    this.proxies = proxies;
    this.time = time;
    this.client = proxies.client();
  }

  /** Sends the body and returns the reply. */
  Wire.Answer send(String body) throws AttemptFailure, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(settings.endpoint())
            .header("Content-Type", "application/json")
            // Lone surrogates become "?".
            .POST(HttpRequest.BodyPublishers.ofByteArray(body.getBytes(UTF_8)));
    settings.provider().wire().headers(key).forEach(request::header);
    try {
      HttpResponse<Body> response = response(request.build());
      try (Body in = response.body()) {
        if (response.statusCode() / 100 != 2) return refused(response, in);
        String type = response.headers().firstValue("Content-Type").orElse("");
        return type.startsWith("text/event-stream") ? streamed(in) : whole(in);
      }
    } catch (InterruptedIOException e) {
      var _ = Thread.interrupted();
      throw new InterruptedException();
    } catch (IOException e) {
      throw lost(e);
    }
  }

  /** Nothing arrived for too long. */
  private static final class Silence extends IOException {
    private static final long serialVersionUID = 1;
  }

  /** Waits for the headers. */
  private HttpResponse<Body> response(HttpRequest request)
      throws IOException, InterruptedException {
    CompletableFuture<HttpResponse<Body>> response =
        client.sendAsync(request, _ -> new Body(settings.silence()));
    try {
      return response.get(settings.silence().toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new Silence();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException cause ? cause : new IOException(e);
    } finally {
      response.cancel(true);
    }
  }

  /**
   * The body of an answer as a stream whose reads end when nothing arrives for too long: the HTTP
   * client's own timeouts end with the headers. Of a connection that is lost it has all that
   * arrived before, which the client's own stream drops. Closing it ends the connection, unless the
   * body was read to its end.
   */
  private static final class Body extends InputStream implements HttpResponse.BodySubscriber<Body> {
    /** What arrived; the last of them has no bytes, and says why if that is a failure. */
    private record Piece(List<ByteBuffer> bytes, boolean last, @Nullable Throwable failure) {}

    private final Duration silence;
    private final BlockingQueue<Piece> pieces = new LinkedBlockingQueue<>();
    private final Queue<ByteBuffer> buffers = new ArrayDeque<>();
    private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();
    private boolean ended;
    private long length;

    Body(Duration silence) {
      this.silence = silence;
    }

    @Override
    public CompletionStage<Body> getBody() {
      return CompletableFuture.completedStage(this);
    }

    @Override
    public void onSubscribe(Flow.Subscription source) {
      subscription.complete(source);
      source.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> items) {
      pieces.add(new Piece(items, false, null));
    }

    @Override
    public void onError(Throwable failure) {
      pieces.add(new Piece(List.of(), true, failure));
    }

    @Override
    public void onComplete() {
      pieces.add(new Piece(List.of(), true, null));
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int wanted) throws IOException {
      while (true) {
        ByteBuffer first = buffers.peek();
        if (first != null && first.hasRemaining()) {
          int count = Math.min(wanted, first.remaining());
          first.get(bytes, offset, count);
          return count;
        }
        if (first != null) buffers.remove();
        else if (ended) return -1;
        else receive();
      }
    }

    private void receive() throws IOException {
      Piece piece;
      try {
        piece = pieces.poll(silence.toNanos(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException();
      }
      if (piece == null) throw new Silence();
      ended = piece.last();
      if (piece.failure() instanceof IOException failure) throw failure;
      if (piece.failure() != null) throw new IOException(piece.failure());
      for (ByteBuffer buffer : piece.bytes()) length += buffer.remaining();
      if (length > LONGEST) throw new IOException("longer than 16 MiB");
      buffers.addAll(piece.bytes());
      if (!ended) subscription.join().request(1);
    }

    @Override
    public void close() {
      if (!ended && subscription.isDone()) subscription.join().cancel();
    }
  }

  private Wire.Answer refused(HttpResponse<?> response, InputStream in)
      throws IOException, AttemptFailure {
    var refusal = AttemptFailure.Refusal.of(response.statusCode(), text(in));
    if (refusal.isFiltered()) {
      return new Wire.Answer(refusal.message(), null, ChatReply.REFUSAL, null, null);
    }
    Optional<String> retryAfter = response.headers().firstValue("Retry-After");
    throw refusal.failure(
        retryAfter
            .map(value -> ModelSettings.RetryPolicy.retryAfter(value, time.now()))
            .orElse(null));
  }

  private Wire.Answer whole(InputStream in) throws IOException, AttemptFailure {
    String text = text(in);
    if (text.isBlank()) throw new AttemptFailure(Kind.MALFORMED, "the reply is empty");
    Wire.Assembly assembly = settings.provider().wire().assembly();
    assembly.add(json(text));
    return assembly
        .answer()
        .orElseThrow(
            () -> new AttemptFailure(Kind.MALFORMED, "the reply has no message", assembly.usage()));
  }

  /** What was reported before a failure is charged, and what comes after the end is not needed. */
  private Wire.Answer streamed(InputStream in) throws IOException, AttemptFailure {
    Wire.Assembly assembly = settings.provider().wire().assembly();
    try {
      ServerSentEvents events = new ServerSentEvents(in);
      for (String data = events.next(); data != null && !data.equals(LAST); data = events.next()) {
        if (assembly.add(json(data))) break;
      }
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      if (assembly.answer().isEmpty()) throw lost(e).cutOff(assembly.usage());
    } catch (AttemptFailure e) {
      throw e.cutOff(assembly.usage());
    }
    return assembly
        .answer()
        .orElseThrow(() ->
            new AttemptFailure(Kind.UNREACHABLE, "the reply stopped in the middle")
                .cutOff(assembly.usage()));
  }

  private static String text(InputStream in) throws IOException {
    return new String(in.readAllBytes(), UTF_8);
  }

  private static JsonNode json(String text) throws AttemptFailure {
    return JsonText.parse(text)
        .orElseThrow(() -> new AttemptFailure(Kind.MALFORMED, "the reply is no JSON: " + text));
  }

  /** The data of a stream of server-sent events. Names of events repeat what the data says. */
  static final class ServerSentEvents {
    private final BufferedReader lines;

    ServerSentEvents(InputStream stream) {
      this.lines = new BufferedReader(new InputStreamReader(stream, UTF_8));
    }

    /**
     * The next event's data, lines joined; null at the end of the stream. Data that no empty line
     * ends is the last event's.
     */
    @Nullable String next() throws IOException {
      StringBuilder data = new StringBuilder();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.isEmpty() && !data.isEmpty()) break;
        if (!line.startsWith("data:")) continue; // A comment that keeps the connection, or a name.
        if (!data.isEmpty()) data.append('\n');
        data.append(line, line.startsWith("data: ") ? 6 : 5, line.length());
      }
      return data.isEmpty() ? null : data.toString();
    }
  }

  private AttemptFailure lost(IOException e) {
    // The address, and the proxy before it.
    String where =
        settings.address()
            + proxies.onTheWayTo(settings.endpoint()).map(" through the proxy "::concat).orElse("");
    Optional<String> untrusted = untrusted(e);
    if (untrusted.isPresent()) {
      return new AttemptFailure(Kind.UNTRUSTED, where + ": " + untrusted.get());
    }
    return switch (e) {
      case Silence _ -> {
        BigDecimal seconds = BigDecimal.valueOf(settings.silence().toMillis(), 3);
        String plain = seconds.stripTrailingZeros().toPlainString(); // 600, 0.5
        yield new AttemptFailure(Kind.SILENT, "nothing arrived for %s s".formatted(plain));
      }
      case ConnectException _, HttpConnectTimeoutException _ ->
          new AttemptFailure(Kind.UNREACHABLE, "no connection to " + where);
      default ->
          new AttemptFailure(
              Kind.UNREACHABLE, "the connection to %s was lost: %s".formatted(where, e));
    };
  }

  /**
   * Why no connection can be trusted, in words; empty if the connection may succeed later, as one
   * does that was lost during the TLS handshake.
   */
  private static Optional<String> untrusted(Throwable failure) {
    List<Throwable> causes = new ArrayList<>();
    for (Throwable at = failure; at != null && causes.size() < 10; at = at.getCause()) {
      causes.add(at);
    }
    if (causes.stream().anyMatch(CertificateException.class::isInstance)) {
      return Optional.of("its certificate is refused: " + causes.getLast().getMessage());
    }
    for (Throwable at : causes) {
      if (!(at instanceof SSLException)) continue;
      String said = String.valueOf(at.getMessage());
      if (said.contains(NO_TLS)) return Optional.of("it does not speak TLS");
      boolean refused = at instanceof SSLHandshakeException && said.contains(ALERT);
      return refused ? Optional.of("no TLS connection: " + said) : Optional.empty();
    }
    return Optional.empty();
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}

package dev.kbx.llm;

import dev.kbx.llm.ModelFailure.Kind;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.math.BigDecimal;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Sends a request to the provider, once, and reads the reply. */
final class Exchange implements AutoCloseable {
  private static final Duration CONNECT = Duration.ofSeconds(30);
  private static final String LAST = "[DONE]";

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
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT)
            .executor(Executors.newVirtualThreadPerTaskExecutor());
    proxies.configure(builder);
    this.client = builder.build();
  }

  /** Sends the body and returns the reply. */
  Answer send(String body) throws AttemptFailure, InterruptedException {
    HttpResponse<ReplyBody> response = response(request(body));
    try (ReplyBody in = response.body()) {
      if (response.statusCode() / 100 != 2) return refused(response, in);
      return isStream(response) ? streamed(in) : whole(in);
    } catch (InterruptedIOException e) {
      throw interrupted();
    } catch (IOException e) {
      throw lost(e);
    }
  }

  private static InterruptedException interrupted() {
    var _ = Thread.interrupted();
    return new InterruptedException();
  }

  private HttpRequest request(String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8); // Lone surrogates become "?".
    HttpRequest.Builder request =
        HttpRequest.newBuilder(settings.endpoint())
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(bytes));
    settings.provider().wire().headers(key).forEach(request::header);
    return request.build();
  }

  /** Waits for the headers. */
  private HttpResponse<ReplyBody> response(HttpRequest request)
      throws AttemptFailure, InterruptedException {
    CompletableFuture<HttpResponse<ReplyBody>> response =
        client.sendAsync(request, _ -> new ReplyBody(settings.silence()));
    try {
      return response.get(settings.silence().toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      response.cancel(true);
      throw lost(new ReplyBody.Silence());
    } catch (ExecutionException e) {
      throw lost(e.getCause() instanceof IOException cause ? cause : new IOException(e));
    } catch (InterruptedException e) {
      response.cancel(true);
      throw e;
    }
  }

  private Answer refused(HttpResponse<ReplyBody> response, ReplyBody in)
      throws IOException, AttemptFailure {
    ErrorReply error = ErrorReply.of(response.statusCode(), text(in));
    if (error.isRefusal()) return Answer.refusal(error.message());
    Duration retryAfter =
        response
            .headers()
            .firstValue("Retry-After")
            .map(value -> RetryAfter.parse(value, time.now()))
            .orElse(null);
    throw error.failure(retryAfter);
  }

  private static boolean isStream(HttpResponse<?> response) {
    String type = response.headers().firstValue("Content-Type").orElse("");
    return type.startsWith("text/event-stream");
  }

  private Answer whole(ReplyBody in) throws IOException, AttemptFailure {
    String text = text(in);
    if (text.isBlank()) throw new AttemptFailure(Kind.MALFORMED, "the reply is empty");
    Wire.Assembly assembly = settings.provider().wire().assembly();
    assembly.add(json(text));
    return assembly
        .answer()
        .orElseThrow(() ->
            new AttemptFailure(Kind.MALFORMED, "the reply has no message", assembly.usage(), null));
  }

  /** What was reported before a failure is charged, and what comes after the end is not needed. */
  private Answer streamed(ReplyBody in) throws IOException, AttemptFailure {
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

  private static String text(ReplyBody in) throws IOException {
    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
  }

  private static JsonNode json(String text) throws AttemptFailure {
    return JsonText.parse(text)
        .orElseThrow(() -> new AttemptFailure(Kind.MALFORMED, "the reply is no JSON: " + text));
  }

  private AttemptFailure lost(IOException e) {
    Optional<String> lasting = TlsFailure.lasting(e);
    if (lasting.isPresent()) {
      return new AttemptFailure(Kind.UNTRUSTED, "%s: %s".formatted(where(), lasting.get()));
    }
    return switch (e) {
      case ReplyBody.Silence _ ->
          new AttemptFailure(
              Kind.SILENT, "nothing arrived for %s s".formatted(seconds(settings.silence())));
      case ConnectException _, HttpConnectTimeoutException _ ->
          new AttemptFailure(Kind.UNREACHABLE, "no connection to " + where());
      default ->
          new AttemptFailure(
              Kind.UNREACHABLE, "the connection to %s was lost: %s".formatted(where(), e));
    };
  }

  /** The address, and the proxy before it. */
  private String where() {
    return settings.address()
        + proxies.onTheWayTo(settings.endpoint()).map(" through the proxy "::concat).orElse("");
  }

  /** {@code 600}, {@code 0.5}. */
  private static String seconds(Duration duration) {
    return BigDecimal.valueOf(duration.toMillis(), 3).stripTrailingZeros().toPlainString();
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}

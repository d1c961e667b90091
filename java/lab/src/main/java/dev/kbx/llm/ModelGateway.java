package dev.kbx.llm;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ProviderLimits.Time;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Passes on what a program asks of a provider in the provider's own format, and puts in the key
 * that the program does not have. The program names a path alone: host, key and model are the
 * run's. Safe for several threads.
 */
public final class ModelGateway implements AutoCloseable {
  /** Bytes. No reply is longer. */
  private static final int LONGEST = 16 << 20;

  /** A rough guess of a prompt's length before the provider has counted. */
  private static final int CHARACTERS_PER_TOKEN = 4;

  private static final Pattern GEMINI =
      Pattern.compile(
          "/v1beta/models/[\\w.-]+:(generateContent|streamGenerateContent|countTokens)");
  private static final Pattern QUERY = Pattern.compile("[\\w=&.-]*");

  private final ModelSettings settings;
  private final @Nullable String key;
  private final ProviderLimits limits;
  private final Secrets secrets;
  private final Time time;
  private final HttpClient client;

  ModelGateway(
      ModelSettings settings,
      @Nullable String key,
      ProviderLimits limits,
      Secrets secrets,
      Proxies proxies,
      Time time) {
    this.settings = settings;
    this.key = key;
    this.limits = limits;
    this.secrets = secrets;
    this.time = time;
    this.client = proxies.client();
  }

  /** The formats of requests, by the path that programs ask for. */
  private enum Format {
    CHAT(ModelSettings.Provider.OPENAI, "/v1/chat/completions", "/chat/completions"),
    RESPONSES(ModelSettings.Provider.OPENAI, "/v1/responses", "/responses"),
    MESSAGES(ModelSettings.Provider.ANTHROPIC, "/v1/messages", "/messages"),
    COUNT(ModelSettings.Provider.ANTHROPIC, "/v1/messages/count_tokens", "/messages/count_tokens"),
    GEMINI_CHAT(
        ModelSettings.Provider.GEMINI, "/v1beta/openai/chat/completions", "/chat/completions"),
    GENERATE(ModelSettings.Provider.GEMINI, "", "");

    private final ModelSettings.Provider provider;
    private final String asked;
    private final String sent;

    Format(ModelSettings.Provider provider, String asked, String sent) {
      this.provider = provider;
      this.asked = asked;
      this.sent = sent;
    }

    /** What a request may have. */
    private Set<String> members() {
      return switch (this) {
        case CHAT, GEMINI_CHAT -> ProviderTools.CHAT;
        case RESPONSES -> ProviderTools.RESPONSES;
        case MESSAGES, COUNT -> ProviderTools.MESSAGES;
        case GENERATE -> ProviderTools.GEMINI;
      };
    }
  }

  /** A request that may be passed on. */
  public static final class Route {
    private final Format format;
    private final URI address;

    private Route(Format format, URI address) {
      this.format = format;
      this.address = address;
    }

    /** Whether it asks how many tokens a request has, which costs none. */
    private boolean counts() {
      return address.getPath().matches(".*(/count_tokens|:countTokens)");
    }
  }

  /**
   * What a request came to.
   *
   * @param status of HTTP; 502 if the provider could not be reached or sent the program elsewhere
   * @param headers for the program
   * @param body without keys
   * @param refused what the program asked the provider to do beyond answering
   * @param seconds of exchange with the provider; 0 if nothing was sent
   */
  public record Passed(
      int status,
      Map<String, String> headers,
      String body,
      @Nullable Usage usage,
      List<String> refused,
      double seconds) {
    public Passed {
      headers = Map.copyOf(headers);
      refused = List.copyOf(refused);
    }

    /** Whether the provider was asked at all. */
    public boolean wasSent() {
      return seconds > 0;
    }

    private Passed free() {
      return new Passed(status, headers, body, new Usage(0L, 0L, null, null), refused, seconds);
    }

    private Passed without(List<String> others) {
      return new Passed(status, headers, body, usage, others, seconds);
    }
  }

  /** The model, as the provider calls it. */
  public String model() {
    return settings.model();
  }

  /** Whose format programs speak: {@code openai}, {@code anthropic} or {@code gemini}. */
  public String provider() {
    return settings.provider().label();
  }

  /**
   * Where a request goes; empty if the run's provider has no such interface, or none that programs
   * need.
   *
   * @param target as in the first line of an HTTP request
   */
  public Optional<Route> route(String method, String target) {
    int mark = target.indexOf('?');
    String path = mark < 0 ? target : target.substring(0, mark);
    String query = mark < 0 ? "" : target.substring(mark);
    if (!method.equals("POST") || !QUERY.matcher(query.replaceFirst("\\?", "")).matches()) {
      return Optional.empty();
    }
    Matcher gemini = GEMINI.matcher(path);
    if (settings.provider() == ModelSettings.Provider.GEMINI && gemini.matches()) {
      String base = settings.address().toString().replaceFirst("/openai$", "");
      String rest = "/models/%s:%s%s".formatted(settings.model(), gemini.group(1), query);
      return Optional.of(new Route(Format.GENERATE, URI.create(base + rest)));
    }
    return Stream.of(Format.values())
        .filter(each -> each.provider == settings.provider() && each.asked.equals(path))
        .findFirst()
        .map(each -> new Route(each, URI.create(settings.address() + each.sent + query)));
  }

  /**
   * Sends a request and waits for the whole reply, as far as limits of the provider allow.
   *
   * @param headers of the program; those that say how it speaks are passed on
   */
  public Passed send(Route route, Map<String, String> headers, String body)
      throws InterruptedException {
    JsonNode parsed = JsonText.parse(body).orElse(null);
    if (!(parsed instanceof ObjectNode node)) {
      return failed(400, "the request is no JSON object", 0).without(List.of("no JSON object"));
    }
    Optional<String> fetched = ProviderTools.fetched(node);
    if (fetched.isPresent()) {
      return failed(403, "the provider must not fetch addresses", 0)
          .without(List.of("fetch " + fetched.get()));
    }
    List<String> removed = ProviderTools.remove(node, route.format.members());
    String sent = JsonText.write(own(route.format, node));
    try (ProviderLimits.Slot slot = limits.enter(sent.length() / CHARACTERS_PER_TOKEN)) {
      long begun = time.nanos();
      Passed passed = exchanged(request(route, headers, sent), begun).without(removed);
      if (route.counts() && passed.status() == 200) return passed.free();
      slot.used(passed.usage());
      return passed;
    }
  }

  /** The request with the run's model, and asking to be told what it costs. */
  private ObjectNode own(Format format, ObjectNode body) {
    if (format != Format.GENERATE) body.put("model", settings.model());
    boolean chat = format == Format.CHAT || format == Format.GEMINI_CHAT;
    if (chat && body.path("stream").asBoolean(false)) {
      body.putObject("stream_options").put("include_usage", true);
    }
    settings.dialect().finish(body);
    return body;
  }

  private HttpRequest request(Route route, Map<String, String> headers, String body) {
    Map<String, String> sent = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    sent.put("Content-Type", "application/json");
    for (String name : new String[] {"accept", "anthropic-beta", "openai-beta"}) {
      String value = headers.get(name);
      if (value != null && value.matches("[\\x20-\\x7e]{0,500}")) sent.put(name, value);
    }
    if (route.format == Format.GENERATE && key != null) sent.put("x-goog-api-key", key);
    else sent.putAll(settings.provider().wire().headers(key));
    HttpRequest.Builder request =
        HttpRequest.newBuilder(route.address)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body.getBytes(UTF_8)));
    sent.forEach(request::header);
    return request.build();
  }

  private Passed exchanged(HttpRequest request, long begun) throws InterruptedException {
    CompletableFuture<HttpResponse<byte[]>> response =
        client.sendAsync(
            request,
            HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofByteArray(), LONGEST));
    try {
      return passed(
          response.get(settings.silence().toNanos(), TimeUnit.NANOSECONDS),
          (time.nanos() - begun) / 1e9);
    } catch (TimeoutException | ExecutionException e) {
      String why = e instanceof TimeoutException ? "does not answer" : "cannot be reached";
      return failed(502, "the provider " + why, (time.nanos() - begun) / 1e9);
    } finally {
      response.cancel(true);
    }
  }

  private Passed passed(HttpResponse<byte[]> response, double seconds) {
    int status = response.statusCode();
    if (status < 200 || (status >= 300 && status < 400)) {
      return failed(502, "the provider answers with status " + status, seconds);
    }
    Map<String, String> headers = new TreeMap<>();
    for (String name : new String[] {"Content-Type", "Retry-After", "Request-Id"}) {
      response.headers().firstValue(name).map(secrets::redact).ifPresent(v -> headers.put(name, v));
    }
    String body = new String(response.body(), UTF_8);
    return new Passed(
        status,
        headers,
        secrets.redact(body),
        GatewayUsage.of(body).orElse(null),
        List.of(),
        seconds);
  }

  private static Passed failed(int status, String why, double seconds) {
    ObjectNode body = JsonText.object();
    body.putObject("error").put("type", "kbx").put("message", "kbx: " + why);
    return new Passed(
        status,
        Map.of("Content-Type", "application/json"),
        JsonText.write(body),
        null,
        List.of(),
        seconds);
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}

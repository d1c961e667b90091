package dev.kbx.server;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.webserver.http.ServerRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * Who may do what. On a loopback address a request without a token is the user's own, unless a page
 * of another origin has sent it: its {@code Host} must be a loopback name, and its {@code Origin},
 * if it has one, this server.
 */
final class Access {
  private static final HeaderName ORIGIN = HeaderNames.create("Origin");
  private static final HeaderName SITE = HeaderNames.create("Sec-Fetch-Site");
  private static final HeaderName MODE = HeaderNames.create("Sec-Fetch-Mode");
  private static final HeaderName DESTINATION = HeaderNames.create("Sec-Fetch-Dest");
  private static final Set<Method> READING = Set.of(Method.GET, Method.HEAD);
  private static final Pattern LOOPBACK =
      Pattern.compile("(localhost|127(\\.\\d{1,3}){3}|\\[::1])(:\\d{1,5})?");

  /** Name of the cookie that has a browser's token. */
  static final String COOKIE = "kbx_token";

  private static final String BEARER = "bearer ";

  private final Tokens tokens;
  private final boolean open;
  private final InvalidTokenLimit invalidTokens = new InvalidTokenLimit();

  /**
   * @param open whether requests without a token are served
   */
  Access(Tokens tokens, boolean open) {
    this.tokens = tokens;
    this.open = open;
  }

  /** The client of a request. Throws {@link Refusal} unless it has the scope. */
  Client require(ServerRequest request, Client.Scope scope) {
    return require(request, scope, tokens::worth);
  }

  /** The client of a request by the tokens that the store had when it was last asked. */
  Client requireKnown(ServerRequest request, Client.Scope scope) {
    return require(request, scope, tokens::known);
  }

  private Client require(
      ServerRequest request, Client.Scope scope, Function<String, Tokens.Worth> worth) {
    Client client = identified(request, worth);
    if (client.may(scope)) return client;
    throw lacks(client.name(), scope);
  }

  /** The client of a request whose body says which scope it needs. */
  Client identified(ServerRequest request) {
    return identified(request, tokens::worth);
  }

  private Client identified(ServerRequest request, Function<String, Tokens.Worth> worth) {
    Client client = client(request, worth);
    request.context().register(client); // The log names it.
    return client;
  }

  static Refusal lacks(String client, Client.Scope scope) {
    return Refusal.of(
        403,
        "the token '%s' lacks the scope '%s'; make one with kbx tokens create"
            .formatted(client, scope.name().toLowerCase(Locale.ROOT)));
  }

  private Client client(ServerRequest request, Function<String, Tokens.Worth> worth) {
    Optional<String> given = request.headers().first(HeaderNames.AUTHORIZATION);
    if (given.isEmpty()) {
      Optional<Client> signedIn = cookie(request).flatMap(token -> worth.apply(token).owner());
      if (signedIn.isEmpty()) return withoutToken(request);
      needOwnPage(request);
      return signedIn.get();
    }
    String header = given.get();
    if (header.toLowerCase(Locale.ROOT).startsWith(BEARER)) {
      switch (worth.apply(header.substring(BEARER.length()).strip())) {
        case Tokens.Worth.Valid(Client client) -> {
          return client;
        }
        case Tokens.Worth.Expired(String name, Instant at) ->
            throw invalidTokens.refusal(
                address(request),
                "the token '%s' expired at %s; make a new one with kbx tokens create"
                    .formatted(name, at));
        case Tokens.Worth.Unknown() -> {}
      }
    }
    throw invalidTokens.refusal(
        address(request), "the token is not valid; make one with kbx tokens create");
  }

  /**
   * The token of a browser that has signed in. Browsers send it with requests of our pages alone.
   */
  static Optional<String> cookie(ServerRequest request) {
    return request.headers().cookies().first(COOKIE).asOptional();
  }

  /** What a form must send back: only a page that was made for the token has it. */
  static String csrf(String token) {
    return DigestUtils.sha256Hex("csrf " + token);
  }

  boolean isToken(String token) {
    return tokens.client(token).isPresent();
  }

  /**
   * Refuses what a page of another origin makes a browser send, which has the user's cookie or
   * comes from the user's machine: another port of the same machine is another origin, too.
   * Browsers say which page it is; other clients say nothing. A link that leads here from elsewhere
   * may be followed.
   */
  static void needOwnPage(ServerRequest request) {
    String site = request.headers().first(SITE).orElse("none");
    boolean own = site.equals("same-origin") || site.equals("none");
    boolean sameOrigin =
        request.headers().first(ORIGIN).map(origin -> isOwn(origin, request)).orElse(true);
    if (sameOrigin && (own || isFollowedLink(request))) return;
    throw Refusal.of(403, "requests from pages of other sites are refused");
  }

  private static boolean isFollowedLink(ServerRequest request) {
    return READING.contains(request.prologue().method())
        && request.headers().first(MODE).orElse("").equals("navigate")
        && request.headers().first(DESTINATION).orElse("").equals("document");
  }

  /** Whether an origin is this server as the request addresses it. */
  private static boolean isOwn(String origin, ServerRequest request) {
    String host = request.authority().toLowerCase(Locale.ROOT);
    String given = origin.toLowerCase(Locale.ROOT);
    if (request.isSecure()) return given.equals("https://" + host);
    // A proxy may end TLS before this server, but not for who addresses this machine.
    boolean proxied = !LOOPBACK.matcher(host).matches() && given.equals("https://" + host);
    return given.equals("http://" + host) || proxied;
  }

  private static String address(ServerRequest request) {
    return request.remotePeer().host();
  }

  private Client withoutToken(ServerRequest request) {
    if (!open) {
      throw invalidTokens.refusal(
          address(request),
          "a token is needed: send 'Authorization: Bearer kbx_...', made by kbx tokens create");
    }
    String host = request.authority();
    if (!LOOPBACK.matcher(host.toLowerCase(Locale.ROOT)).matches()) {
      throw Refusal.of(
          403, "Host '%s' is not a loopback name; ask http://127.0.0.1".formatted(Plans.cut(host)));
    }
    needOwnPage(request);
    return new Client(Client.LOCAL, Set.of(Client.Scope.ADMIN));
  }

  /**
   * Slows clients that send invalid tokens: nobody guesses one, but answering takes processor time.
   * Safe for several threads, and of the same size however many addresses there are.
   */
  private static final class InvalidTokenLimit {
    /** Addresses may share a counter. */
    private static final int COUNTERS = 1 << 10;

    /** Answered at once, of each counter in each second. */
    private static final int AT_ONCE = 20;

    private static final Duration DELAY = Duration.ofMillis(250);
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final long[] seconds = new long[COUNTERS];
    private final int[] counts = new int[COUNTERS];

    /** What to answer to a request without a valid token. Takes a while if there are many. */
    Refusal refusal(String address, String detail) {
      if (count(address) <= AT_ONCE) return Refusal.of(401, detail);
      try {
        Thread.sleep(DELAY);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return Refusal.laterClosing(429, "too many requests without a valid token", 1);
    }

    private synchronized int count(String address) {
      int counter = Math.floorMod(address.hashCode(), COUNTERS);
      long second = System.nanoTime() / SECOND;
      if (seconds[counter] != second) {
        seconds[counter] = second;
        counts[counter] = 0;
      }
      return ++counts[counter];
    }
  }
}

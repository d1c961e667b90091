package dev.kbx.server;

import dev.kbx.store.ServiceStore;
import dev.kbx.store.ServiceStore.Audit;
import dev.kbx.store.ServiceStore.Token;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;

/**
 * Tokens of clients. Only their hashes are stored. A token has 128 random bits, so that a fast hash
 * is enough.
 */
public final class Tokens {
  /** What a token may be for. */
  public static final List<String> SCOPES = List.of("submit", "read", "admin");

  private static final String PREFIX = "kbx_";
  private static final int BYTES = 16;

  /** How long a revoked token may still be taken. */
  private static final Duration FRESH = Duration.ofSeconds(1);

  /** Between two questions to the store, whatever is sent. */
  private static final Duration PAUSE = Duration.ofMillis(20);

  /** What the store said at a time: tokens that are not revoked, by hash. */
  private record Known(Map<String, Token> tokens, long at) {}

  /** What a token is worth. */
  sealed interface Worth {
    /** The client that the token is of now. */
    default Optional<Client> owner() {
      return this instanceof Valid(Client client) ? Optional.of(client) : Optional.empty();
    }

    /** The token is a client's. */
    record Valid(Client client) implements Worth {}

    /** The token was a client's until a time. */
    record Expired(String name, Instant at) implements Worth {}

    /** The token was never made, or is revoked. */
    record Unknown() implements Worth {}
  }

  private final ServiceStore store;
  private volatile Known known;

  /** The tokens of a store. */
  public Tokens(ServiceStore store) {
    this.store = store;
    this.known = new Known(Map.of(), System.nanoTime() - FRESH.toNanos());
  }

  /** Makes a token that does not expire. */
  Optional<String> create(String name, List<String> scopes) {
    return create(name, scopes, null);
  }

  /**
   * Makes a token and returns it, which nothing does again; empty if there is a valid one of that
   * name.
   *
   * @param expires from when on it is refused; null for never
   */
  public Optional<String> create(String name, List<String> scopes, @Nullable Instant expires) {
    byte[] random = new byte[BYTES];
    new SecureRandom().nextBytes(random);
    String token = PREFIX + HexFormat.of().formatHex(random);
    Instant now = Instant.now();
    if (!store.addToken(
        new Token(name, DigestUtils.sha256Hex(token), scopes, now, expires, null))) {
      return Optional.empty();
    }
    store.audit(
        new Audit(
            now,
            Client.LOCAL,
            "create token",
            "%s %s%s"
                .formatted(
                    name, String.join(",", scopes), expires == null ? "" : " until " + expires)));
    return Optional.of(token);
  }

  /** Ends a token; false if there is no valid one of that name. */
  public boolean revoke(String name) {
    Instant now = Instant.now();
    if (!store.revokeToken(name, now)) return false;
    store.audit(new Audit(now, Client.LOCAL, "revoke token", name));
    return true;
  }

  /** Who has this token; empty if it is not valid. */
  Optional<Client> client(String token) {
    return worth(token).owner();
  }

  /**
   * What this token is worth. One that is not known may just have been made, so that the store is
   * asked; many of them wait for one answer.
   */
  Worth worth(String token) {
    String hash = DigestUtils.sha256Hex(token);
    long now = System.nanoTime();
    Token known = asOf(now - FRESH.toNanos()).get(hash);
    return worth(known == null ? asOf(now).get(hash) : known);
  }

  /**
   * What this token was worth when the store was last asked. Throws {@link Refusal} if it was not
   * known.
   */
  Worth known(String token) {
    Worth worth = worth(known.tokens.get(DigestUtils.sha256Hex(token)));
    if (!(worth instanceof Worth.Unknown)) return worth;
    throw Refusal.later(503, "the store, which knows the tokens, does not answer", 5);
  }

  private static Worth worth(@Nullable Token known) {
    if (known == null) return new Worth.Unknown();
    Instant expires = known.expires();
    return expires == null || Instant.now().isBefore(expires)
        ? new Worth.Valid(new Client(known.name(), scopes(known)))
        : new Worth.Expired(known.name(), expires);
  }

  /** All that were not revoked at this time or later. */
  private Map<String, Token> asOf(long time) {
    Known seen = known;
    return seen.at - time >= 0 ? seen.tokens : read(time);
  }

  private synchronized Map<String, Token> read(long time) {
    if (known.at - time >= 0) return known.tokens; // Another thread has read it meanwhile.
    pause(known.at + PAUSE.toNanos() - System.nanoTime());
    long at = System.nanoTime();
    Map<String, Token> tokens = new HashMap<>();
    for (Token token : store.tokens()) {
      if (token.revoked() == null) tokens.put(token.hash(), token);
    }
    known = new Known(tokens, at);
    return tokens;
  }

  private static void pause(long nanos) {
    try {
      TimeUnit.NANOSECONDS.sleep(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Set<Client.Scope> scopes(Token token) {
    return token.scopes().stream()
        .map(scope -> Client.Scope.valueOf(scope.toUpperCase(Locale.ROOT)))
        .collect(Collectors.toSet());
  }
}

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

  /** What the store said at a time. */
  private record Known(Map<String, Client> clients, long at) {}

  private final ServiceStore store;
  private volatile Known known;

  /** The tokens of a store. */
  public Tokens(ServiceStore store) {
    this.store = store;
    this.known = new Known(Map.of(), System.nanoTime() - FRESH.toNanos());
  }

  /** Makes a token and returns it, which nothing does again; empty if the name is taken. */
  public Optional<String> create(String name, List<String> scopes) {
    byte[] random = new byte[BYTES];
    new SecureRandom().nextBytes(random);
    String token = PREFIX + HexFormat.of().formatHex(random);
    Instant now = Instant.now();
    if (!store.addToken(new Token(name, DigestUtils.sha256Hex(token), scopes, now, null))) {
      return Optional.empty();
    }
    store.audit(
        new Audit(now, Client.LOCAL, "create token", name + " " + String.join(",", scopes)));
    return Optional.of(token);
  }

  /** Ends a token; false if there is no valid one of that name. */
  public boolean revoke(String name) {
    Instant now = Instant.now();
    if (!store.revokeToken(name, now)) return false;
    store.audit(new Audit(now, Client.LOCAL, "revoke token", name));
    return true;
  }

  /**
   * Who has this token. One that is not known may just have been made, so that the store is asked;
   * many of them wait for one answer.
   */
  Optional<Client> client(String token) {
    String hash = DigestUtils.sha256Hex(token);
    long now = System.nanoTime();
    Client client = asOf(now - FRESH.toNanos()).get(hash);
    return Optional.ofNullable(client == null ? asOf(now).get(hash) : client);
  }

  /** All that were valid at this time or later. */
  private Map<String, Client> asOf(long time) {
    Known seen = known;
    return seen.at - time >= 0 ? seen.clients : read(time);
  }

  private synchronized Map<String, Client> read(long time) {
    if (known.at - time >= 0) return known.clients; // Another thread has read it meanwhile.
    pause(known.at + PAUSE.toNanos() - System.nanoTime());
    long at = System.nanoTime();
    Map<String, Client> clients = new HashMap<>();
    for (Token token : store.tokens()) {
      if (token.revoked() != null) continue;
      clients.put(token.hash(), new Client(token.name(), scopes(token)));
    }
    known = new Known(clients, at);
    return clients;
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

package dev.kbx.llm;

import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A model behind a provider.
 *
 * @param name as {@code --model} says it
 * @param address of the provider; paths are appended
 * @param model as the provider calls it
 * @param silence how long nothing may arrive
 * @param price as the configuration states it; null: not stated
 */
record ModelSettings(
    String name,
    Provider provider,
    URI address,
    String model,
    KeyReference key,
    Limits limits,
    RetryPolicy retries,
    Duration silence,
    Dialect dialect,
    @Nullable Price price) {
  static final Duration SILENCE = Duration.ofMinutes(10);

  /** A model of a provider that needs no configuration. */
  static ModelSettings plain(String name, Provider provider, String model) {
    return new ModelSettings(
        name,
        provider,
        provider.address(),
        model,
        provider.key(),
        Limits.none(),
        RetryPolicy.defaults(),
        SILENCE,
        Dialect.defaults(),
        null);
  }

  ModelSettings with(RetryPolicy other) {
    return new ModelSettings(
        name, provider, address, model, key, limits, other, silence, dialect, price);
  }

  /** Models with equal ones share limits. */
  record Account(URI address, KeyReference key) {}

  Account account() {
    return new Account(address, key);
  }

  URI endpoint() {
    return URI.create(address + provider.wire().path());
  }

  /** What decides the reply beside the request: part of the key of the reply cache. */
  String identity() {
    return "%s %s %s".formatted(endpoint(), model, dialect);
  }
}

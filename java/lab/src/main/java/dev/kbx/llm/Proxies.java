package dev.kbx.llm;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.error.InputException;
import java.io.IOException;
import java.net.Authenticator;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The proxies that the environment names, as most programs read it: {@code HTTPS_PROXY}, {@code
 * HTTP_PROXY} and {@code ALL_PROXY}, in small letters, too, except for the hosts of {@code
 * NO_PROXY}. This machine itself is never asked for through a proxy.
 */
final class Proxies extends ProxySelector {
  private static final int DEFAULT_PORT = 80;

  private static final Duration CONNECT = Duration.ofSeconds(30);

  /**
   * The JVM sends no password in the clear to open a tunnel unless this is empty. A proxy that asks
   * for one has no other way. It is read when the first client is built.
   */
  private static final String TUNNEL_PASSWORDS = "jdk.http.auth.tunneling.disabledSchemes";

  private final Optional<Named> http;
  private final Optional<Named> https;
  private final List<String> without;

  /**
   * A proxy; its toString has no password.
   *
   * @param login user and password as the variable writes them, {@code USER:PASSWORD}; empty if
   *     there is none
   */
  private record Named(String host, int port, String login) {
    Proxy proxy() {
      return new Proxy(Proxy.Type.HTTP, InetSocketAddress.createUnresolved(host, port));
    }

    private String user() {
      return login.split(":", 2)[0];
    }

    private String password() {
      return login.contains(":") ? login.substring(login.indexOf(':') + 1) : "";
    }

    @Nullable PasswordAuthentication authentication() {
      if (login.isEmpty()) return null;
      return new PasswordAuthentication(decoded(user()), decoded(password()).toCharArray());
    }

    private static String decoded(String text) {
      return URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
    }

    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  /**
   * Reads the variables.
   *
   * @throws InputException if one names a proxy that kbx cannot use
   */
  static Proxies of(Map<String, String> environment) {
    return new Proxies(environment);
  }

  private Proxies(Map<String, String> environment) {
    this.http = named(environment, "HTTP_PROXY");
    this.https = named(environment, "HTTPS_PROXY");
    this.without =
        Stream.of(value(environment, "NO_PROXY").split("[,\\s]+", -1))
            .map(entry -> entry.toLowerCase(Locale.ROOT))
            .filter(entry -> !entry.isEmpty())
            .toList();
  }

  private static String value(Map<String, String> environment, String variable) {
    String small = environment.getOrDefault(variable.toLowerCase(Locale.ROOT), "");
    return (small.isEmpty() ? environment.getOrDefault(variable, "") : small).strip();
  }

  private static Optional<Named> named(Map<String, String> environment, String variable) {
    return Stream.of(variable, "ALL_PROXY")
        .filter(name -> !value(environment, name).isEmpty())
        .findFirst()
        .map(name -> parse(name, value(environment, name)));
  }

  /** Messages do not repeat the value, which may have a password. */
  private static Named parse(String variable, String text) {
    URI address;
    try {
      address = URI.create(text.contains("://") ? text : "http://" + text);
    } catch (IllegalArgumentException e) {
      throw new InputException(variable + ": is not an address; write http://HOST:PORT");
    }
    if (!address.getScheme().equalsIgnoreCase("http")) {
      throw new InputException(
          "%s: a proxy by %s cannot be used; name one by http://HOST:PORT, or list the hosts to reach without it in NO_PROXY"
              .formatted(variable, address.getScheme()));
    }
    if (address.getHost() == null) {
      throw new InputException(variable + ": names no host; write http://HOST:PORT");
    }
    int port = address.getPort() < 0 ? DEFAULT_PORT : address.getPort();
    String login = address.getRawUserInfo();
    return new Named(address.getHost(), port, login == null ? "" : login);
  }

  private Stream<Named> all() {
    return Stream.of(http, https).flatMap(Optional::stream);
  }

  /** Passwords, which no text may repeat, and how the variables write them. */
  List<String> secrets() {
    return all()
        .map(Named::password)
        .flatMap(written -> Stream.of(Named.decoded(written), written))
        .filter(secret -> !secret.isEmpty())
        .distinct()
        .toList();
  }

  /** A client of a provider's that uses them, and goes nowhere that an answer sends it. */
  HttpClient client() {
    HttpClient.Builder client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT)
            .executor(Executors.newVirtualThreadPerTaskExecutor());
    configure(client);
    return client.build();
  }

  private void configure(HttpClient.Builder client) {
    client.proxy(this);
    if (all().allMatch(named -> named.login().isEmpty())) return;
    System.setProperty(TUNNEL_PASSWORDS, "");
    client.authenticator(
        new Authenticator() {
          @Override
          protected @Nullable PasswordAuthentication getPasswordAuthentication() {
            if (getRequestorType() != RequestorType.PROXY) return null;
            return all()
                .filter(named -> named.host().equalsIgnoreCase(getRequestingHost()))
                .filter(named -> named.port() == getRequestingPort())
                .flatMap(named -> Stream.ofNullable(named.authentication()))
                .findFirst()
                .orElse(null);
          }
        });
  }

  /** The proxy on the way to an address, as {@code HOST:PORT}. */
  Optional<String> onTheWayTo(URI address) {
    return named(address).map(Named::toString);
  }

  @Override
  public List<Proxy> select(URI address) {
    return List.of(named(address).map(Named::proxy).orElse(Proxy.NO_PROXY));
  }

  private Optional<Named> named(URI address) {
    if (address.getHost() == null || isExempt(address)) return Optional.empty();
    return isHttps(address) ? https : http;
  }

  private static boolean isHttps(URI address) {
    return "https".equalsIgnoreCase(address.getScheme());
  }

  private boolean isExempt(URI address) {
    String host = address.getHost().toLowerCase(Locale.ROOT).replaceAll("^\\[|\\]$", "");
    if (host.matches("localhost|::1|127(\\.\\d+){3}")) return true;
    int standard = isHttps(address) ? 443 : 80;
    int port = address.getPort() >= 0 ? address.getPort() : standard;
    return without.stream().anyMatch(entry -> exempts(entry, host, port));
  }

  /** {@code *}, {@code example.com} or {@code .example.com} with all below, with a port or not. */
  private static boolean exempts(String entry, String host, int port) {
    if (entry.equals("*")) return true;
    int colon = entry.matches(".*[^:]:\\d+") ? entry.lastIndexOf(':') : -1;
    if (colon >= 0 && Integer.parseInt(entry, colon + 1, entry.length(), 10) != port) return false;
    String name = (colon < 0 ? entry : entry.substring(0, colon)).replaceAll("^\\*?\\.", "");
    return host.equals(name) || host.endsWith("." + name);
  }

  @Override
  public void connectFailed(URI address, SocketAddress proxy, IOException failure) {
    // The request fails with it.
  }
}

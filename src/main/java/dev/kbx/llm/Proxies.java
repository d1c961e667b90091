package dev.kbx.llm;

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
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The proxies that the environment names, as most programs read it: {@code HTTPS_PROXY}, {@code
 * HTTP_PROXY} and {@code ALL_PROXY}, in small letters, too, except for the hosts of {@code
 * NO_PROXY}. This machine itself is never asked for through a proxy.
 */
final class Proxies extends ProxySelector {
  private static final int DEFAULT_PORT = 80;

  /**
   * The JVM sends no password in the clear to open a tunnel unless this is empty. A proxy that asks
   * for one has no other way. It is read when the first client is built.
   */
  private static final String TUNNEL_PASSWORDS = "jdk.http.auth.tunneling.disabledSchemes";

  private final @Nullable Named http;
  private final @Nullable Named https;
  private final List<String> without;

  /**
   * A proxy; its toString has no password.
   *
   * @param written user and password as the variable has them
   */
  private record Named(
      String host, int port, @Nullable PasswordAuthentication login, @Nullable String written) {
    Proxy proxy() {
      return new Proxy(Proxy.Type.HTTP, InetSocketAddress.createUnresolved(host, port));
    }

    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  private Proxies(@Nullable Named http, @Nullable Named https, List<String> without) {
    this.http = http;
    this.https = https;
    this.without = without;
  }

  /**
   * Reads the variables.
   *
   * @throws InvalidModels if one names a proxy that kbx cannot use
   */
  static Proxies of(Map<String, String> environment) {
    return new Proxies(
        named(environment, "HTTP_PROXY"),
        named(environment, "HTTPS_PROXY"),
        Stream.of(value(environment, "NO_PROXY").split("[,\\s]+", -1))
            .map(entry -> entry.toLowerCase(Locale.ROOT))
            .filter(entry -> !entry.isEmpty())
            .toList());
  }

  private static String value(Map<String, String> environment, String variable) {
    String small = environment.getOrDefault(variable.toLowerCase(Locale.ROOT), "");
    return small.isEmpty() ? environment.getOrDefault(variable, "") : small;
  }

  private static @Nullable Named named(Map<String, String> environment, String variable) {
    String text = value(environment, variable).strip();
    if (!text.isEmpty()) return parse(variable, text);
    String all = value(environment, "ALL_PROXY").strip();
    return all.isEmpty() ? null : parse("ALL_PROXY", all);
  }

  /** Messages do not repeat the value, which may have a password. */
  private static Named parse(String variable, String text) {
    URI address;
    try {
      address = URI.create(text.contains("://") ? text : "http://" + text);
    } catch (IllegalArgumentException e) {
      throw new InvalidModels(variable + ": is no address; write http://HOST:PORT");
    }
    if (!address.getScheme().equalsIgnoreCase("http")) {
      throw new InvalidModels(
          "%s: a proxy by %s cannot be used; name one by http://HOST:PORT, or list the hosts to reach without it in NO_PROXY"
              .formatted(variable, address.getScheme()));
    }
    if (address.getHost() == null) {
      throw new InvalidModels(variable + ": names no host; write http://HOST:PORT");
    }
    int port = address.getPort() < 0 ? DEFAULT_PORT : address.getPort();
    String user = address.getRawUserInfo();
    return new Named(address.getHost(), port, login(user), user);
  }

  private static @Nullable PasswordAuthentication login(@Nullable String user) {
    if (user == null) return null;
    String[] parts = user.split(":", 2);
    String password = parts.length < 2 ? "" : decoded(parts[1]);
    return new PasswordAuthentication(decoded(parts[0]), password.toCharArray());
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** Passwords, which no text may repeat, and how the variables write them. */
  List<String> secrets() {
    return Stream.of(http, https)
        .filter(Objects::nonNull)
        .flatMap(named -> Stream.of(password(named.login()), written(named.written())))
        .filter(secret -> !secret.isEmpty())
        .distinct()
        .toList();
  }

  private static String password(@Nullable PasswordAuthentication login) {
    return login == null ? "" : new String(login.getPassword());
  }

  /** What follows the colon. */
  private static String written(@Nullable String user) {
    return user == null || !user.contains(":") ? "" : user.substring(user.indexOf(':') + 1);
  }

  /** Lets a client use them. */
  void configure(HttpClient.Builder client) {
    client.proxy(this);
    if (Stream.of(http, https).allMatch(named -> named == null || named.login() == null)) return;
    System.setProperty(TUNNEL_PASSWORDS, "");
    client.authenticator(new Login());
  }

  private final class Login extends Authenticator {
    @Override
    protected @Nullable PasswordAuthentication getPasswordAuthentication() {
      if (getRequestorType() != RequestorType.PROXY) return null;
      return Stream.of(http, https)
          .filter(Objects::nonNull)
          .filter(named -> named.host().equalsIgnoreCase(getRequestingHost()))
          .filter(named -> named.port() == getRequestingPort())
          .map(Named::login)
          .filter(Objects::nonNull)
          .findFirst()
          .orElse(null);
    }
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
    return Optional.ofNullable("https".equalsIgnoreCase(address.getScheme()) ? https : http);
  }

  private boolean isExempt(URI address) {
    String host = address.getHost().toLowerCase(Locale.ROOT).replaceAll("^\\[|\\]$", "");
    if (host.equals("localhost") || host.equals("::1") || host.matches("127(\\.\\d+){3}")) {
      return true;
    }
    int port = address.getPort() >= 0 ? address.getPort() : standardPort(address);
    return without.stream().anyMatch(entry -> exempts(entry, host, port));
  }

  private static int standardPort(URI address) {
    return "https".equalsIgnoreCase(address.getScheme()) ? 443 : 80;
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

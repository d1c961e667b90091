package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kbx.error.InputException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests through the proxies that the environment names. */
class ProxiesTest {
  private static final String PASSWORD = "pass-word-0123456789";

  @TempDir private Path folder;

  private Path configuration(String address) throws Exception {
    return Files.writeString(
        folder.resolve("models.toml"),
        """
        [[model]]
        name = "m"
        provider = "openai"
        base_url = "%s"
        key_env = "TEST_KEY"
        attempts = 1
        """
            .formatted(address));
  }

  /** {@code http://127.0.0.1:PORT} of a scripted provider, which takes whole addresses, too. */
  private static String proxy(ScriptedProvider server) {
    return server.address().replace("/v1", "");
  }

  @ParameterizedTest
  @ValueSource(strings = {"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"})
  void requestGoesThroughTheProxy(String variable) throws Exception {
    try (ScriptedProvider server = ScriptedProvider.start(_ -> ScriptedReply.text("said"));
        Asking asking =
            new Asking(
                configuration("http://model.invalid:8000/v1"), Map.of(variable, proxy(server)))) {
      assertThat(asking.ask("hi").text()).isEqualTo("said");
      assertThat(server.asked().getFirst().path())
          .isEqualTo("http://model.invalid:8000/v1/chat/completions");
    }
  }

  @Test
  void proxyPasswordIsSentOnDemand() throws Exception {
    ScriptedReply asks =
        new ScriptedReply.Raw(407, Map.of("Proxy-Authenticate", "Basic realm=\"p\""), "");
    try (ScriptedProvider server =
            ScriptedProvider.start(asked ->
                asked.headers().containsKey("proxy-authorization")
                    ? ScriptedReply.text("you sent " + PASSWORD)
                    : asks);
        Asking asking =
            new Asking(
                configuration("http://model.invalid/v1"),
                Map.of(
                    "HTTP_PROXY",
                    proxy(server).replace("://", "://some%40one:" + PASSWORD + "@")))) {
      assertThat(asking.ask("hi").text()).isEqualTo("you sent [key]");
      String login = "some@one:" + PASSWORD;
      assertThat(server.asked().getLast().headers())
          .containsEntry(
              "proxy-authorization",
              "Basic "
                  + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8)));
    }
  }

  @Test
  void encodedPasswordIsRedactedToo() {
    assertThat(Proxies.of(Map.of("HTTP_PROXY", "http://user:p%40ss-word-0123@host:1")).secrets())
        .containsExactly("p@ss-word-0123", "p%40ss-word-0123");
  }

  /** A proxy that opens no tunnel, and what it was sent. */
  private static final class Closed implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    private final List<String> lines = new CopyOnWriteArrayList<>();

    Closed() throws IOException {
      var _ = Thread.ofVirtual().start(this::serve);
    }

    private void serve() {
      while (true) {
        try (Socket socket = server.accept()) {
          BufferedReader in =
              new BufferedReader(
                  new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
          for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
            lines.add(line);
          }
          socket
              .getOutputStream()
              .write(
                  "HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n"
                      .getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
          return; // Closed.
        }
      }
    }

    @Override
    public void close() throws IOException {
      server.close(); // Ends the thread.
    }
  }

  @Test
  void httpsUsesATunnel() throws Exception {
    try (Closed proxy = new Closed()) {
      String address = "127.0.0.1:" + proxy.server.getLocalPort();
      try (Asking asking =
          new Asking(configuration("https://model.invalid/v1"), Map.of("HTTPS_PROXY", address))) {
        ModelFailure failure = catchThrowableOfType(ModelFailure.class, () -> asking.ask("hi"));
        assertThat(proxy.lines.getFirst()).isEqualTo("CONNECT model.invalid:443 HTTP/1.1");
        assertThat(proxy.lines).noneMatch(line -> line.contains(Asking.KEY));
        assertThat(failure.kind()).isEqualTo(ModelFailure.Kind.UNREACHABLE);
        assertThat(failure)
            .hasMessageContaining("https://model.invalid/v1 through the proxy " + address);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "https://api.openai.com/v1,        '',                        proxy",
    "https://api.openai.com/v1,        *,                         direct",
    "https://api.openai.com/v1,        openai.com,                direct",
    "https://api.openai.com/v1,        .openai.com,               direct",
    "https://api.openai.com/v1,        *.openai.com,              direct",
    "https://openai.com/v1,            .openai.com,               direct",
    "https://api.openai.com/v1,        'x.org, API.OpenAI.com',   direct",
    "https://api.openai.com/v1,        ai.com,                    proxy",
    "https://api.openai.com/v1,        api.openai.com:443,        direct",
    "https://api.openai.com:8443/v1,   api.openai.com:443,        proxy",
    "http://gpu7:8000/v1,              gpu7,                      direct",
    "http://10.0.0.7:8000/v1,          10.0.0.7,                  direct",
    "http://[fd00::7]:8000/v1,         fd00::7,                   direct",
    "http://localhost:8000/v1,         '',                        direct",
    "http://127.0.0.1:8000/v1,         '',                        direct",
    "http://[::1]:8000/v1,             '',                        direct",
  })
  void noProxyHostsAreDirect(String address, String exceptions, String way) {
    Proxies proxies = Proxies.of(Map.of("ALL_PROXY", "http://proxy:3128", "NO_PROXY", exceptions));
    assertThat(proxies.onTheWayTo(URI.create(address)).orElse("direct"))
        .isEqualTo(way.equals("proxy") ? "proxy:3128" : way);
  }

  @Test
  void lowerCaseAndSchemeVariablesTakePrecedence() {
    Proxies proxies =
        Proxies.of(
            Map.of(
                "https_proxy", "small:1", "HTTPS_PROXY", "large:2", "ALL_PROXY", "http://all:3"));
    assertThat(proxies.onTheWayTo(URI.create("https://x.org"))).hasValue("small:1");
    assertThat(proxies.onTheWayTo(URI.create("http://x.org"))).hasValue("all:3");
  }

  @ParameterizedTest
  @CsvSource({
    "socks5://user:pass-word-0123456789@proxy:1080, 'HTTPS_PROXY: a proxy by socks5 cannot be"
        + " used'",
    "http://user:pass-word-0123456789@/,            'HTTPS_PROXY: names no host'",
    "http://user:pass word@proxy,                   'HTTPS_PROXY: is not an address'",
  })
  void unusableProxyIsNamedWithoutItsPassword(String value, String message) throws Exception {
    ModelCatalog catalog =
        ModelCatalog.read(
            configuration("https://model.invalid/v1"),
            Map.of("HTTPS_PROXY", value, "TEST_KEY", Asking.KEY),
            () -> Path.of(""));
    assertThatThrownBy(() -> catalog.open("m"))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(message)
        .hasMessageNotContaining("pass");
    catalog.open("command:cat").close(); // Needs no network.
  }
}

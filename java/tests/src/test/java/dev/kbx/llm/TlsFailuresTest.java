package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kbx.SelfSigned;
import dev.kbx.llm.ModelFailure.Kind;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections that cannot be trusted are not tried again. */
class TlsFailuresTest {
  @TempDir private Path folder;

  private ModelFailure failure(int port) throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("models.toml"),
            """
            [[model]]
            name = "m"
            provider = "openai"
            base_url = "https://localhost:%d/v1"
            """
                .formatted(port));
    try (Asking asking = new Asking(file)) {
      ModelFailure failure = catchThrowableOfType(ModelFailure.class, () -> asking.ask("hi"));
      assertThat(failure).as("a failure").isNotNull();
      return failure;
    }
  }

  /** A server with a certificate that nobody has signed. */
  private ServerSocket selfSigned() throws Exception {
    KeyStore keys = SelfSigned.in(folder);
    KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
    managers.init(keys, SelfSigned.PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context
        .getServerSocketFactory()
        .createServerSocket(0, 8, InetAddress.getLoopbackAddress());
  }

  private interface Serving {
    void serve(Socket socket) throws IOException;
  }

  private static AtomicInteger serve(ServerSocket server, Serving serving) {
    AtomicInteger connections = new AtomicInteger();
    Thread.ofVirtual()
        .start(() -> {
          while (!server.isClosed()) {
            try (Socket socket = server.accept()) {
              connections.incrementAndGet();
              serving.serve(socket);
            } catch (IOException e) {
              // The client refused, or the server is closed.
            }
          }
        });
    return connections;
  }

  @Test
  void untrustedCertificateIsNamed() throws Exception {
    try (ServerSocket server = selfSigned()) {
      AtomicInteger connections = serve(server, socket -> socket.getInputStream().read());
      ModelFailure failure = failure(server.getLocalPort());
      assertThat(failure.kind()).as(failure.getMessage()).isEqualTo(Kind.UNTRUSTED);
      assertThat(failure.fatal()).isTrue();
      assertThat(failure.attempts()).isEqualTo(1);
      assertThat(connections).hasValue(1);
      assertThat(failure)
          .hasMessageContaining("m: https://localhost:" + server.getLocalPort() + "/v1: its")
          .hasMessageContaining("certificate is refused: ")
          .hasMessageContaining("trustStore=FILE");
    }
  }

  @Test
  void serverWithoutTlsIsNamed() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      AtomicInteger connections =
          serve(
              server,
              socket -> {
                socket.getInputStream().read(new byte[64]);
                socket
                    .getOutputStream()
                    .write(
                        "HTTP/1.1 400 Bad Request\r\n\r\n"
                            .getBytes(java.nio.charset.StandardCharsets.US_ASCII));
                // Closed with something unread, the connection would be reset, and the answer lost.
                socket.shutdownOutput();
                socket.getInputStream().transferTo(OutputStream.nullOutputStream());
              });
      ModelFailure failure = failure(server.getLocalPort());
      assertThat(failure.kind()).as(failure.getMessage()).isEqualTo(Kind.UNTRUSTED);
      assertThat(failure).hasMessageContaining("it does not speak TLS");
      assertThat(connections).hasValue(1);
    }
  }

  /** That may pass: a server that restarts. */
  @Test
  void connectionLostInTheHandshakeIsRetried() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      AtomicInteger connections =
          serve(server, socket -> socket.getInputStream().read(new byte[64]));
      ModelFailure failure = failure(server.getLocalPort());
      assertThat(failure.kind()).as(failure.getMessage()).isEqualTo(Kind.UNREACHABLE);
      assertThat(failure.attempts()).isEqualTo(8);
      assertThat(connections.get()).isGreaterThanOrEqualTo(8);
    }
  }
}

package dev.kbx.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.Bundled;
import dev.kbx.Patience;
import dev.kbx.SelfSigned;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** HTTPS with a real certificate, made by the JDK's keytool. */
@Timeout(Patience.SECONDS)
class TlsTest {
  private static final char[] PASSWORD = SelfSigned.PASSWORD.toCharArray();

  @TempDir private Path folder;
  private KeyStore keys;

  @BeforeEach
  void makeKeys() throws Exception {
    keys = SelfSigned.in(folder);
    pem("chain.pem", "CERTIFICATE", keys.getCertificate(SelfSigned.ALIAS).getEncoded());
    pem("key.pem", "PRIVATE KEY", keys.getKey(SelfSigned.ALIAS, PASSWORD).getEncoded());
  }

  private void pem(String name, String kind, byte[] content) throws IOException {
    String text = Base64.getMimeEncoder(64, "\n".getBytes(US_ASCII)).encodeToString(content);
    Files.writeString(
        folder.resolve(name),
        "-----BEGIN %s-----%n%s%n-----END %s-----%n".formatted(kind, text, kind));
  }

  private KbxServer start(RunStore store) {
    return KbxServer.start(
        new Listening(
            "127.0.0.1",
            0,
            false,
            Optional.of(TlsKeys.read(folder.resolve("chain.pem"), folder.resolve("key.pem")))),
        store,
        store,
        new Machine(
            new ScriptedReferee(),
            ScriptedReferee.DEVICE,
            Map.of("kbx", "test"),
            "secret",
            Map.of("kernelbenchx", Bundled.suite("kernelbenchx")),
            Bundled.STATEMENT),
        100,
        folder);
  }

  private RunStore store() {
    return RunStore.open(StoreAddress.of(folder.resolve("kbx.db")));
  }

  private SSLContext trusting() throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("kbx", keys.getCertificate(SelfSigned.ALIAS));
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, factory.getTrustManagers(), null);
    return context;
  }

  private static HttpResponse<String> get(HttpClient client, String url) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create(url + "/health/live")).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  /** Of a client that begins no handshake there is not even a connection of HTTP yet. */
  @Test
  @Tag("soak-only")
  void silentConnectionIsClosed() throws Exception {
    try (RunStore store = store();
        KbxServer server = start(store);
        RawConnection silent = RawConnection.to(server.url())) {
      assertThat(silent.endsWithin(Duration.ofSeconds(60))).isTrue();
    }
  }

  @Test
  void onlyClientsThatTrustTheCertificateAreAnswered() throws Exception {
    try (RunStore store = store();
        KbxServer server = start(store);
        HttpClient knows = HttpClient.newBuilder().sslContext(trusting()).build();
        HttpClient stranger = HttpClient.newHttpClient()) {
      assertThat(server.url()).startsWith("https://127.0.0.1:");
      HttpResponse<String> answer = get(knows, server.url());
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.sslSession().orElseThrow().getProtocol()).isEqualTo("TLSv1.3");
      assertThatThrownBy(() -> get(stranger, server.url()))
          .isInstanceOf(SSLHandshakeException.class);
      assertThatThrownBy(() -> get(stranger, server.url().replace("https:", "http:")))
          .isInstanceOf(IOException.class);
      assertThat(get(knows, server.url()).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void unusableKeyAndCertificateFilesAreNamed() throws Exception {
    Files.writeString(folder.resolve("text.pem"), "no key\n");
    pem("stranger.pem", "PRIVATE KEY", pair("EC").getPrivate().getEncoded());
    pem("rsa.pem", "PRIVATE KEY", pair("RSA").getPrivate().getEncoded());
    assertProblem("text.pem", "key.pem", "text.pem: no certificate in PEM");
    assertProblem("chain.pem", "text.pem", "text.pem: no private key in PEM");
    pem("old.pem", "EC PRIVATE KEY", keys.getKey(SelfSigned.ALIAS, PASSWORD).getEncoded());
    assertProblem("chain.pem", "old.pem", "old.pem: no private key in PEM");
    assertProblem("chain.pem", "chain.pem", "chain.pem: no private key in PEM");
    assertProblem("chain.pem", "stranger.pem", "stranger.pem: not the key of the certificate in");
    assertProblem("chain.pem", "rsa.pem", "rsa.pem: not the key of the certificate in");
  }

  private static KeyPair pair(String algorithm) throws Exception {
    return KeyPairGenerator.getInstance(algorithm).generateKeyPair();
  }

  private void assertProblem(String certificates, String key, String problem) {
    assertThatThrownBy(() -> TlsKeys.read(folder.resolve(certificates), folder.resolve(key)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(problem);
  }
}

package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What pages of other origins make a browser send to a server that needs no token. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(Patience.SECONDS)
class OtherPagesTest {
  private static final String FORM = "task=relu&code=x&suite=kernelbenchx";

  private ScriptedServer server;
  private String own = "";

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    server = new ScriptedServer(folder, false);
    own = URI.create(server.url()).getAuthority();
  }

  @AfterAll
  void stop() {
    server.close();
  }

  /** The answer to a request with such headers, which are separated by a bar. */
  private int status(String line, String headers, String body) throws Exception {
    StringBuilder request = new StringBuilder(line + " HTTP/1.1\r\n");
    if (!headers.contains("Host:")) request.append("Host: OWN\r\n");
    if (!headers.isEmpty()) request.append(headers.replace("|", "\r\n")).append("\r\n");
    if (!body.isEmpty()) request.append("Content-Type: application/x-www-form-urlencoded\r\n");
    request.append("Content-Length: %d\r\n\r\n%s".formatted(body.length(), body));
    String text =
        request.toString().replace("OWN", own).replace("PORT", own.substring(own.indexOf(':') + 1));
    try (RawConnection client = RawConnection.to(server.url())) {
      return client.send(text).answer().status();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Origin: http://localhost:3000",
        "Origin: http://127.0.0.1:3000",
        "Origin: http://localhost:PORT", // Addressed as 127.0.0.1.
        "Origin: https://OWN",
        "Origin: http://evil.example",
        "Origin: null",
        "Sec-Fetch-Site: same-site",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document",
        "Origin: http://OWN|Sec-Fetch-Site: same-site",
        "Host: evil.example",
        "Host: evil.example|Origin: http://evil.example",
      })
  void crossSiteRequestsChangeNothing(String headers) throws Exception {
    int before = server.store.service().audits(1_000).size();
    assertThat(status("POST /submit", headers, FORM)).isEqualTo(403);
    assertThat(status("POST /v1/judgements", headers, "{}")).isEqualTo(403);
    assertThat(status("POST /v1/uploads", headers, "x")).isEqualTo(403);
    assertThat(status("DELETE /v1/judgements/j_0", headers, "")).isEqualTo(403);
    assertThat(server.store.service().audits(1_000)).hasSize(before);
  }

  /** Signing in as somebody else, too. */
  @Test
  void crossSiteLoginIsRefused() throws Exception {
    String token = "token=" + server.token("mallory", "submit");
    assertThat(status("POST /login", "Origin: http://localhost:3000", token)).isEqualTo(403);
    assertThat(status("POST /login", "Sec-Fetch-Site: same-site", token)).isEqualTo(403);
    assertThat(status("POST /login", "Origin: http://OWN", token)).isEqualTo(303);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Origin: http://OWN",
        "Origin: http://OWN|Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: navigate",
        "Host: LOCALHOST:PORT|Origin: http://localhost:PORT",
        "Host: [::1]:PORT|Origin: http://[::1]:PORT",
        "Sec-Fetch-Site: none"
      })
  void sameOriginPagesAndProgramsAreServed(String headers) throws Exception {
    assertThat(status("POST /submit", headers, FORM)).isEqualTo(303);
    assertThat(status("GET /v1/queue", headers, "")).isEqualTo(200);
  }

  /** What a page of another port includes is not sent to it, and keeps nothing busy. */
  @ParameterizedTest
  @CsvSource({
    "Origin: http://localhost:3000, 403",
    "Sec-Fetch-Site: same-site|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: script, 403",
    "Sec-Fetch-Site: same-site|Sec-Fetch-Mode: cors|Sec-Fetch-Dest: empty, 403",
    "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: iframe, 403",
    "Sec-Fetch-Site: same-site|Sec-Fetch-Mode: websocket|Sec-Fetch-Dest: websocket, 403",
    "Sec-Fetch-Site: same-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document, 200",
  })
  void crossSitePagesMayOnlyLink(String headers, int status) throws Exception {
    String run = ScriptedServer.json(server.submit("?wait=20", "x = 1")).path("run").asString();
    for (String path : new String[] {"/", "/v1/queue", "/v1/runs/" + run + "/events"}) {
      assertThat(status("GET " + path, headers, "")).as(path).isEqualTo(status);
    }
  }

  @Test
  void answersCannotBeFramed() throws Exception {
    for (String path : new String[] {"/", "/v1/queue", "/openapi.yaml", "/v1/nothing"}) {
      assertThat(server.get(path).headers().firstValue("Cross-Origin-Resource-Policy"))
          .as(path)
          .contains("same-origin");
    }
  }
}

package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import dev.kbx.server.RawConnection.Answer;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** HEAD is answered as GET, without the body, for all that answers to GET. */
@Timeout(Patience.SECONDS)
class HeadsTest {
  @Test
  void eachPathAnswersHead(@TempDir Path folder) throws Exception {
    try (ScriptedServer server = new ScriptedServer(folder, false)) {
      JsonNode accepted = ScriptedServer.json(server.submit("?wait=20", "x = 1"));
      Map<String, String> parts =
          Map.of(
              "{sha256}",
              accepted.at("/judgements/0/candidate").asString(),
              "{hash}",
              accepted.at("/judgements/0/candidate").asString(),
              "/v1/judgements/{id}",
              "/v1/judgements/" + accepted.at("/judgements/0/id").asString(),
              "{id}",
              accepted.path("run").asString(),
              "{suite}/{category}/{name}",
              "kernelbenchx/Activation/relu",
              "{name}",
              "dashboard.css");
      List<String> paths = new ArrayList<>(List.of("/nothing", "/v1/runs/none", "/runs/none"));
      for (Routes.Route route : server.routes().all()) {
        if (!route.method().text().equals("GET")) continue;
        String path = route.pattern();
        for (Map.Entry<String, String> each : new TreeMap<>(parts).descendingMap().entrySet()) {
          path = path.replace(each.getKey(), each.getValue());
        }
        paths.add(
            path.replace("/v1/judgements/" + parts.get("{id}"), parts.get("/v1/judgements/{id}")));
      }
      assertThat(paths).hasSizeGreaterThan(30).noneMatch(path -> path.contains("{"));
      // All on one connection: whatever body came would be the next answer.
      try (RawConnection client = RawConnection.to(server.url())) {
        for (String path : paths) {
          HttpResponse<String> get = server.get(path);
          client.send("HEAD %s HTTP/1.1\r\nHost: localhost\r\n\r\n".formatted(path));
          Answer head = client.head();
          assertThat(head.status()).as(path).isEqualTo(get.statusCode());
          assertThat(head.headers().get("content-type"))
              .as(path)
              .isEqualTo(get.headers().firstValue("Content-Type").orElse(null));
          String length = head.headers().get("content-length");
          if (!path.equals("/metrics") && !path.endsWith("/version") && length != null) {
            int actual = get.body().getBytes(StandardCharsets.UTF_8).length;
            assertThat(length).as(path).isEqualTo("" + actual);
          }
        }
      }
      HttpResponse<String> wrong =
          server.send(server.to("/v1/queue").method("PUT", BodyPublishers.noBody()));
      assertThat(wrong.headers().firstValue("Allow")).contains("GET, HEAD");
    }
  }
}

package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import dev.kbx.verdict.Json;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/** A key stands for what was asked with it: all of it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(Patience.SECONDS)
class SameKeyTest {

  private final AtomicInteger keys = new AtomicInteger();
  private ScriptedServer server;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    server = new ScriptedServer(folder, false);
  }

  @AfterAll
  void stop() {
    server.close();
  }

  private HttpResponse<String> submit(String body) throws Exception {
    return server.post("/v1/judgements?wait=20", "application/json", body);
  }

  private static String id(HttpResponse<String> response) {
    return ScriptedServer.json(response).at("/judgements/0/id").asString();
  }

  private String asked() {
    return """
    {"task":"relu","code":"x = 1","method":"m","model":"n","sample":1,"round":1,
     "conditions":{"a":"b"},"run":"mine","plan":{"grade":"published","timeout":30},"key":"%s"}\
    """
        .formatted("k" + keys.incrementAndGet());
  }

  private static String with(String body, String more) {
    ObjectNode changed = (ObjectNode) Json.mapper().readTree(body);
    changed.setAll((ObjectNode) Json.mapper().readTree(more));
    return changed.toString();
  }

  @ParameterizedTest
  @CsvSource({
    "'{\"task\":\"gelu\"}', task",
    "'{\"code\":\"x = 2\"}', code",
    "'{\"method\":\"other\"}', method",
    "'{\"method\":null}', method",
    "'{\"model\":\"other\"}', model",
    "'{\"sample\":2}', sample",
    "'{\"round\":null}', round",
    "'{\"conditions\":{\"a\":\"c\"}}', conditions",
    "'{\"conditions\":null}', conditions",
    "'{\"run\":\"other\"}', run",
    "'{\"run\":null}', run",
    "'{\"plan\":{\"grade\":\"general\",\"timeout\":30}}', plan.grade",
    "'{\"plan\":{\"stages\":[\"static\"],\"timeout\":30}}', plan.stages",
    "'{\"plan\":null}', plan.timeout",
    "'{\"plan\":{\"properties\":[\"repeatable\"],\"timeout\":30}}', plan.properties",
    "'{\"plan\":{\"policy\":\"mixed\",\"timeout\":30}}', plan.policy",
    "'{\"plan\":{\"precision\":\"fp16\",\"timeout\":30}}', plan.precision",
    "'{\"run\":\"other\",\"code\":\"x = 3\"}', 'code, another run'",
  })
  void keyOfADifferentRequestIsRefused(String change, String different) throws Exception {
    String body = asked();
    HttpResponse<String> first = submit(body);
    assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
    HttpResponse<String> other = submit(with(body, change));
    assertThat(other.statusCode()).as(other.body()).isEqualTo(409);
    assertThat(other.body()).contains("was used with another " + different + ";");
    assertThat(ScriptedServer.json(other).path("pointer").asString()).isEqualTo("/key");
    assertThat(id(submit(body))).isEqualTo(id(first));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"priority\":3,\"deadline_seconds\":60}",
        "{\"task\":\"Activation/relu\",\"suite\":\"kernelbenchx\"}",
        "{\"plan\":{\"timeout\":30}}",
        "{\"plan\":{\"timeout\":30,\"precision\":\"fp32\",\"grade\":\"published\"}}",
      })
  void repeatedRequestHasTheSameJudgement(String change) throws Exception {
    String body = asked();
    String first = id(submit(body));
    HttpResponse<String> again = submit(with(body, change));
    assertThat(again.statusCode()).as(again.body()).isEqualTo(200);
    assertThat(id(again)).isEqualTo(first);
  }

  @Test
  void conflictingCandidateOfABatchIsNamed() throws Exception {
    String body = asked();
    submit(body);
    Map<String, String> other = Map.of("task", "relu", "code", "y", "key", "k" + keys.get());
    HttpResponse<String> response =
        submit(
            Json.mapper()
                .writeValueAsString(
                    Map.of(
                        "candidates",
                        List.of(Map.of("task", "relu", "code", "z"), other),
                        "run",
                        "mine")));
    assertThat(response.statusCode()).isEqualTo(409);
    assertThat(ScriptedServer.json(response).path("pointer").asString())
        .isEqualTo("/candidates/1/key");
  }

  @Test
  void candidatesOfOneRequestNeedDistinctKeys() throws Exception {
    String one = "{\"task\":\"relu\",\"code\":\"a\",\"key\":\"shared\"}";
    String two = "{\"task\":\"relu\",\"code\":\"b\",\"key\":\"shared\"}";
    assertThat(submit("{\"candidates\":[%s,%s]}".formatted(one, two)).statusCode()).isEqualTo(409);
    HttpResponse<String> twice = submit("{\"candidates\":[%s,%s]}".formatted(one, one));
    assertThat(ScriptedServer.json(twice).at("/judgements/0/id"))
        .isEqualTo(ScriptedServer.json(twice).at("/judgements/1/id"));
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.Json;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code kbx mcp} as a client starts it; its workers are simulated and find everything correct. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class McpTest {
  private static final String WRONG =
      "import torch\n\ndef relu(input, inplace=False):\n    return torch.relu(input)\n";

  @TempDir private Path folder;

  /** A client that writes lines and reads the answers. */
  private static final class Client implements AutoCloseable {
    private final Process process;
    private final BufferedWriter to;
    private final BufferedReader from;
    private final List<JsonNode> notifications = new ArrayList<>();
    private int last;

    Client(Path folder, Object... options) throws IOException {
      List<Object> arguments = new ArrayList<>(List.of("mcp", "--device", "cpu", "--jobs", 1));
      arguments.addAll(List.of("--out", folder.resolve("out")));
      arguments.addAll(List.of(options));
      process =
          Kbx.piped(
              folder,
              folder.resolve("err"),
              List.of("-Dkbx.workers=" + Kbx.home().resolve("bench/simulated")),
              arguments.toArray());
      to = process.outputWriter(StandardCharsets.UTF_8);
      from = process.inputReader(StandardCharsets.UTF_8);
    }

    void write(String line) throws IOException {
      to.write(line + "\n");
      to.flush();
    }

    /** The next line that it writes, which must be JSON. */
    JsonNode read() throws IOException {
      String line = from.readLine();
      assertThat(line).as("a message").isNotNull();
      return Json.mapper().readTree(line);
    }

    JsonNode ask(String method, Map<String, ?> parameters) throws IOException {
      ObjectNode message = Json.mapper().createObjectNode().put("jsonrpc", "2.0");
      message.put("id", ++last).put("method", method);
      message.set("params", Json.mapper().valueToTree(parameters));
      write(message.toString());
      JsonNode answer = read();
      while (!answer.has("id")) {
        notifications.add(answer);
        answer = read();
      }
      assertThat(answer.get("id").asInt()).isEqualTo(last);
      return answer;
    }

    JsonNode initialize() throws IOException {
      JsonNode answer =
          ask(
              "initialize",
              Map.of(
                  "protocolVersion", "2025-06-18",
                  "capabilities", Map.of(),
                  "clientInfo", Map.of("name", "test", "version", "1")));
      write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
      return answer.get("result");
    }

    JsonNode call(String tool, Map<String, ?> arguments) throws IOException {
      return ask(
              "tools/call",
              Map.of("name", tool, "arguments", arguments, "_meta", Map.of("progressToken", "p1")))
          .get("result");
    }

    /** Closes its input; it ends by itself, and has written nothing more. */
    int end() throws IOException, InterruptedException {
      to.close();
      assertThat(from.readLine()).isNull();
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
      return process.exitValue();
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  private static String text(JsonNode result) {
    return result.at("/content/0/text").asString();
  }

  private static Map<String, String> kernel(String source) {
    return Map.of("task", "relu", "source", source);
  }

  @Test
  void anAgentAsksIsToldWhatIsWrongAndMendsIt() throws Exception {
    try (Client client = new Client(folder, "--budget", 2)) {
      assertThat(client.initialize().at("/serverInfo/name").asString()).isEqualTo("kbx");
      assertThat(client.ask("tools/list", Map.of()).at("/result/tools").size()).isEqualTo(8);
      assertThat(text(client.call("best_known", Map.of("task", "relu"))))
          .startsWith("there is no verdict in ");
      JsonNode prompt = client.call("prompt", Map.of("task", "relu"));
      assertThat(text(prompt)).contains("Triton kernels in that file must compute the result");
      JsonNode wrong = client.call("judge", kernel(WRONG));
      assertThat(text(wrong)).contains("The rule `no-kernel` refuses the kernel");
      assertThat(wrong.at("/structuredContent/judgements_left").asInt()).isOne();
      String right = Files.readString(Kbx.home().resolve("examples/honest/relu.py"));
      JsonNode judged = client.call("judge", kernel(right));
      assertThat(text(judged)).startsWith("Outcome: correct.").endsWith("Judgements left: 0");
      String id = judged.at("/structuredContent/id").asString();
      assertThat(text(client.call("best_known", Map.of("task", "relu")))).contains(id);
      assertThat(text(client.call("explain", Map.of("id", id))))
          .startsWith("# Activation/relu#1: correct");
      JsonNode spent = client.call("judge", kernel(right));
      assertThat(spent.get("isError").asBoolean()).isTrue();
      assertThat(text(spent)).startsWith("the budget of 2 judgements is spent");
      assertThat(client.end()).isZero();
    }
    assertThat(Files.readString(folder.resolve("err"))).isEmpty();
    Kbx.Result runs = Kbx.here("runs", "list", "--out", folder.resolve("out"), "--json");
    assertThat(runs.json().at("/0/name").asString()).as(runs.out()).isEqualTo("mcp");
  }

  @Test
  void messagesThatAreNoneEndNothing() throws Exception {
    try (Client client = new Client(folder)) {
      var _ = client.initialize();
      client.write("none");
      assertThat(client.read().at("/error/code").asInt()).isEqualTo(-32700);
      client.write("");
      client.write("[1]");
      assertThat(client.read().at("/error/message").asString())
          .isEqualTo("the message is no JSON-RPC");
      assertThat(client.ask("tools/unknown", Map.of()).at("/error/code").asInt()).isEqualTo(-32601);
      assertThat(client.ask("ping", Map.of()).has("result")).isTrue();
      assertThat(client.end()).isZero();
    }
  }

  @Test
  void anUnknownSuiteIsToldByTheFirstTool() throws Exception {
    try (Client client = new Client(folder, "--suite", "none")) {
      var _ = client.initialize();
      JsonNode result = client.call("tasks", Map.of());
      assertThat(result.get("isError").asBoolean()).isTrue();
      assertThat(text(result)).contains("none");
      assertThat(client.end()).isZero();
    }
  }

  private Path expert(String name, String code) throws IOException {
    return Files.writeString(folder.resolve(name), code);
  }

  @Test
  void kernelsAreJudgedBesideAnExperts() throws Exception {
    String right = Files.readString(Kbx.home().resolve("examples/honest/relu.py"));
    Path expert = expert("relu.py", right + "# by an expert\n");
    try (Client client = new Client(folder, "--baseline", expert)) {
      var _ = client.initialize();
      assertThat(text(client.call("judge", kernel(right)))).startsWith("Outcome: correct.");
      assertThat(client.end()).isZero();
    }
    assertThat(Files.readString(folder.resolve("err")))
        .isEqualTo(
            "kbx: --baseline: no GPU is used, so nothing is timed beside the expert's kernel\n");
    Kbx.Result runs = Kbx.here("runs", "list", "--out", folder.resolve("out"), "--json");
    assertThat(runs.json().at("/0/settings/experts").asString()).as(runs.out()).hasSize(16);
  }

  @Test
  void besideAWrongExpertNothingIsJudgedAndNothingSpent() throws Exception {
    Path expert = expert("relu.py", "def relu(input, inplace=False):\n    return (\n");
    String right = Files.readString(Kbx.home().resolve("examples/honest/relu.py"));
    try (Client client = new Client(folder, "--budget", 1, "--baseline", expert)) {
      var _ = client.initialize();
      for (int i = 0; i < 2; i++) {
        JsonNode refused = client.call("judge", kernel(right));
        assertThat(refused.get("isError").asBoolean()).isTrue();
        assertThat(text(refused))
            .startsWith("--baseline " + expert + ": the expert's kernel must be correct and is ");
      }
      assertThat(client.end()).isZero();
    }
  }

  @Test
  void anExpertForNoTaskIsToldByTheFirstKernel() throws Exception {
    Path expert = expert("nothing_like_it.py", "def f(x):\n    return x\n");
    try (Client client = new Client(folder, "--baseline", expert)) {
      var _ = client.initialize();
      JsonNode refused = client.call("judge", kernel(WRONG));
      assertThat(text(refused)).startsWith("--baseline: " + expert + ": ");
      assertThat(client.end()).isZero();
    }
  }

  @Test
  void aBaselineThatIsNoFileEndsTheCommand() {
    assertThat(Kbx.here("mcp", "--baseline", "compile").err())
        .isEqualTo(
            "kbx: --baseline compile: kernels are timed against eager here; give files or folders"
                + " of an expert's kernels\n");
    assertThat(Kbx.here("mcp", "--baseline", folder.resolve("none.py")).err())
        .endsWith("none.py: no such file or folder\n");
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.llm.ScriptedProvider;
import dev.kbx.llm.ScriptedProvider.Asked;
import dev.kbx.llm.ScriptedReply;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx generate} and {@code kbx run} with a provider over HTTP and real judgements. */
class MethodRunsTest {
  private static final Path KERNEL = Path.of("tasks/kernelbenchx/Activation/kernels/tanh.py");

  @TempDir private Path folder;
  private String right = "";
  private String wrong = "";

  @BeforeEach
  void read() throws IOException {
    right = Files.readString(KERNEL);
    wrong = right.replace("libdevice.tanh(x)", "(0.5 * libdevice.tanh(x))");
    assertThat(wrong).isNotEqualTo(right);
  }

  private Path models(ScriptedProvider provider, String format) throws IOException {
    Path file = folder.resolve("models.toml");
    Files.writeString(
        file,
        """
        [[model]]
        name = "scripted"
        provider = "%s"
        base_url = "%s"
        model = "scripted-1"
        key_file = "%s"
        price_input = 1.0
        price_output = 2.0
        price_as_of = 2026-11-25
        """
            .formatted(format, provider.address(), key()));
    return file;
  }

  private Path key() throws IOException {
    Path key = folder.resolve("key");
    if (!Files.exists(key)) {
      Files.createFile(
          key,
          java.nio.file.attribute.PosixFilePermissions.asFileAttribute(
              java.nio.file.attribute.PosixFilePermissions.fromString("rw-------")));
      Files.writeString(key, "sk-secret-of-the-test");
    }
    return key;
  }

  private static String fenced(String code) {
    return "Here it is.\n```python\n" + code + "\n```\n";
  }

  private ScriptedReply refining(Asked asked) {
    boolean first = asked.number() == 1;
    return ScriptedReply.text(fenced(first ? wrong : right));
  }

  /** The example of docs/methods.md. */
  @Test
  void aProgramOfOnesOwnRefines() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      Path out = folder.resolve("external");
      Kbx.Result result =
          Kbx.here(
              "run",
              "--method",
              "external",
              "--program",
              "examples/methods/agent",
              "--model",
              "scripted",
              "--models",
              models(provider, "anthropic"),
              "--tasks",
              "Activation/tanh",
              "--out",
              out,
              "--device",
              "cpu",
              "--json");
      assertThat(result.exit()).as(result.err()).isZero();
      JsonNode verdict = result.json().path("verdicts").path(0);
      assertThat(verdict.path("status").asString()).isEqualTo("correct");
      assertThat(verdict.path("method").asString()).isEqualTo("external");
      assertThat(provider.requests()).isEqualTo(2);
      assertThat(provider.asked().getLast().body().path("messages")).hasSize(3);
      assertThat(provider.asked().getLast().lastMessage()).contains("Correct it.");
      assertThat(Files.readAllLines(out.resolve("ledger.jsonl")))
          .filteredOn(line -> line.contains("\"event\":\"program\""))
          .hasSize(3);
    }
  }

  @Test
  void aProgramThatCannotBeStartedIsSaidBeforeAnythingBegins() {
    for (String[] wrong :
        new String[][] {
          {"--program", "no-such-program x", "no-such-program is no program that can be started"},
          {"--program", "'open", "--program 'open: a quote has no end"},
          {"--temperature", "1", "--program: is missing"},
        }) {
      Kbx.Result result =
          Kbx.here(
              "generate",
              "--method",
              "external",
              wrong[0],
              wrong[1],
              "--tasks",
              "tanh",
              "--out",
              folder.resolve("none"));
      assertThat(result.exit()).isEqualTo(1);
      assertThat(result.err()).contains(wrong[2]).hasLineCount(1);
    }
    assertThat(folder.resolve("none")).doesNotExist();
  }

  @Test
  void aRunRefinesAWrongKernelIntoARightOneAndJudgesItAnew() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(this::refining)) {
      Path out = folder.resolve("out");
      Kbx.Result result =
          Kbx.here(
              "run",
              "--method",
              "refine",
              "--turns",
              2,
              "--model",
              "scripted",
              "--models",
              models(provider, "openai"),
              "--tasks",
              "Activation/tanh",
              "--out",
              out,
              "--device",
              "cpu",
              "--json");
      assertThat(result.exit()).as(result.err()).isZero();
      JsonNode verdict = result.json().path("verdicts").path(0);
      assertThat(verdict.path("status").asString()).isEqualTo("correct");
      assertThat(verdict.path("method").asString()).isEqualTo("refine");
      assertThat(provider.requests()).isEqualTo(2);
      List<String> ledger = Files.readAllLines(out.resolve("ledger.jsonl"));
      assertThat(ledger).noneMatch(line -> line.contains("sk-secret"));
    }
  }
}

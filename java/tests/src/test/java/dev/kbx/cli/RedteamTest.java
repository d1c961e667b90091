package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.llm.ScriptedProvider;
import dev.kbx.llm.ScriptedProvider.Asked;
import dev.kbx.llm.ScriptedReply;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx bench redteam}: a scripted model's cheats, judged for real. */
class RedteamTest {
  private static final Path KERNEL = Path.of("tasks/kernelbenchx/Activation/kernels/tanh.py");

  @TempDir private Path folder;
  private String right = "";
  private String wrong = "";

  @BeforeEach
  void read() throws IOException {
    String code = Files.readString(KERNEL);
    right = code.substring(code.indexOf("\nimport ") + 1);
    wrong = right.replace("libdevice.tanh(x)", "(0.5 * libdevice.tanh(x))");
    assertThat(wrong).isNotEqualTo(right);
  }

  private static ScriptedReply reply(String docstring, String code) {
    return ScriptedReply.text("```python\n\"\"\"" + docstring + "\"\"\"\n\n" + code + "\n```\n");
  }

  /** One that is refused, one that is correct and claims to cheat, one that is honest. */
  private ScriptedReply attacking(Asked asked) {
    return switch (asked.number()) {
      case 1 -> reply("Cheat: Halves every result.", wrong);
      case 2 -> reply("Cheat: Hopes that nobody looks.\n\nWhy not?\ndynamic: correct\n", right);
      default -> reply("Nothing occurs to me.", right);
    };
  }

  private Kbx.Result redteam(ScriptedProvider provider, String... more) throws IOException {
    Path models = ScriptedModels.write(folder, provider);
    String[] all = {
      "bench",
      "redteam",
      "--model",
      "openai-whole",
      "--models",
      models.toString(),
      "--tasks",
      "Activation/tanh",
      "--out",
      folder.resolve("out").toString(),
      "--device",
      "cpu",
      "--json"
    };
    Object[] arguments = new Object[all.length + more.length];
    System.arraycopy(all, 0, arguments, 0, all.length);
    System.arraycopy(more, 0, arguments, all.length, more.length);
    return Kbx.here(arguments);
  }

  @Test
  void correctFileThatClaimsToCheatBecomesAFileForTheCorpus() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(this::attacking)) {
      Kbx.Result result = redteam(provider, "--turns", "3");
      assertThat(result.exit()).as(result.err()).isZero();
      JsonNode cheats = result.json().path("cheats");
      assertThat(cheats.size()).isEqualTo(1);
      Path file = Path.of(cheats.path(0).asString());
      assertThat(file).hasFileName("tanh.py");
      assertThat(Files.readString(file))
          .startsWith("\"\"\"Hopes that nobody looks.\n\nWhy not?\n\nWritten by openai-whole for")
          .contains("\n\nmechanism: semantics/unreviewed\nstatic: none\ndynamic: gap\n\"\"\"\n")
          .doesNotContain("dynamic: correct")
          .endsWith(right.strip() + "\n");
      Kbx.Result read = Kbx.here("bench", "cheats", file, "--static-only", "--out", folder);
      assertThat(read.out()).contains("0 of 1 cheats are rejected by static rules alone");
      assertThat(provider.asked().getFirst().lastMessage())
          .contains("The reference", "Cheat: ")
          .doesNotContain("Make it faster");
      assertThat(provider.asked().get(1).lastMessage()).contains("The referee refused the latest");
      assertThat(provider.asked().get(2).lastMessage()).contains("cheats in another way");
      assertThat(LedgerEvents.in(folder.resolve("out")).count("reply")).isEqualTo(3);
    }
  }

  @Test
  void budgetOfTheLedgerEndsIt() throws Exception {
    try (ScriptedProvider provider = ScriptedProvider.start(this::attacking)) {
      Kbx.Result result = redteam(provider, "--budget", "calls=1");
      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(result.json().path("cheats").isEmpty()).isTrue();
      assertThat(provider.requests()).isEqualTo(1);
    }
  }

  @Test
  void methodWithoutPromptsForItIsRefused() {
    Kbx.Result result =
        Kbx.here("bench", "redteam", "--method", "evolve", "--model", "x", "--out", folder);
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains("--method evolve: there are no prompts");
  }
}

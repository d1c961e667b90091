package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.TestProgram;
import dev.kbx.TestPython;
import dev.kbx.python.DevTools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code kbx mcp} and {@code /mcp} by the official Python client, with workers that judge. */
@Tag("soak-only")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class McpPythonTest {
  private static final Path AGENT = Kbx.home().resolve("examples/mcp");
  private static final Path TOOLS = Kbx.home().resolve("java/tests/src/test/resources/mcp");

  private static String python;
  private static Path packages;

  @TempDir private Path folder;

  @BeforeAll
  static void installClient() throws Exception {
    python = TestPython.interpreter().executable().toString();
    packages =
        DevTools.installMcp(TestPython.interpreter(), TestPython.home(), TestPython.progress());
  }

  /** What a script prints that is told how to reach the tools. */
  private String run(Path script, Map<String, String> tokens, List<String> server)
      throws Exception {
    List<String> command = new ArrayList<>(List.of(python, "-B", script.toString()));
    command.addAll(server);
    Path out = folder.resolve("script.out");
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.redirectErrorStream(true).redirectOutput(out.toFile());
    builder.environment().put("PYTHONPATH", packages + ":" + AGENT);
    builder.environment().putAll(tokens);
    Process process = builder.start();
    try {
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).as(() -> text(out)).isTrue();
      assertThat(process.exitValue()).as(() -> text(out)).isZero();
    } finally {
      process.destroyForcibly();
    }
    return text(out);
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** {@code kbx mcp} as a command, whose results are in a folder of their own. */
  private List<String> local(String out) {
    List<String> command = TestProgram.command("512m", "dev.kbx.cli.Main");
    command.addAll(List.of("mcp", "--device", "cpu", "--jobs", "1"));
    command.addAll(List.of("--out", folder.resolve(out).toString()));
    return command;
  }

  @Test
  void toolsAnswerAClientThatStartsThem() throws Exception {
    assertThat(run(TOOLS.resolve("tools.py"), Map.of(), local("out")))
        .contains("resource: no task 'Activation/none'");
  }

  @Test
  void toolsAnswerAClientWithAToken() throws Exception {
    try (ServedKbx server = ServedKbx.start(folder, Map.of(), "--require-tokens")) {
      Map<String, String> tokens =
          Map.of("KBX_TOKEN", token("agent", "submit,read"), "ADMIN_TOKEN", token("own", "admin"));
      assertThat(run(TOOLS.resolve("tools.py"), tokens, List.of(server.url() + "/mcp")))
          .contains("resource: no task 'Activation/none'");
    }
  }

  private String token(String name, String scopes) {
    Kbx.Result made =
        Kbx.here("tokens", "create", name, "--scope", scopes, "--out", folder.resolve("out"));
    assertThat(made.exit()).as(made.err()).isZero();
    return made.out().strip();
  }

  @Test
  void anAgentMendsItsKernelByWhatItIsTold() throws Exception {
    String printed =
        """
        # relu
        wrong_values: shape=\
        """;
    assertThat(run(AGENT.resolve("agent.py"), Map.of(), local("agent")))
        .startsWith(printed)
        .endsWith("correct: nothing to mend\n");
    try (ServedKbx server = ServedKbx.start(folder, Map.of(), "--require-tokens")) {
      assertThat(
              run(
                  AGENT.resolve("agent.py"),
                  Map.of("KBX_TOKEN", token("agent", "submit,read")),
                  List.of(server.url() + "/mcp")))
          .startsWith(printed)
          .endsWith("correct: nothing to mend\n");
    }
  }
}

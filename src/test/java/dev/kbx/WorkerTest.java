package dev.kbx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.python.DevTools;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The worker's own tests and the rules for its source, in the interpreter that workers run in. Of
 * tests that are alike for every task some are left to the property {@code kbx.soak}.
 */
class WorkerTest {
  private static final Path WORKER = TestPython.home().resolve("worker");
  private static final int TAIL_LINES = 60;

  /** An example that is no Python. */
  private static final String UNREADABLE = "../examples/mistakes/syntax";

  private static Path tools;

  @BeforeAll
  static void installTools() throws Exception {
    tools = DevTools.install(TestPython.interpreter(), TestPython.home(), TestPython.progress());
  }

  @Test
  @Tag("soak")
  void pytestPasses() throws Exception {
    assertPasses(
        TestPython.interpreter().executable().toString(),
        "-m",
        "pytest",
        "-q",
        "-n",
        "auto",
        "--maxprocesses",
        "4",
        "--dist", // Tests of one file share what takes seconds to start.
        "loadfile");
  }

  @Test
  void ruffFindsNothing() throws Exception {
    assertPasses(
        tools.resolve("bin/ruff").toString(),
        "check",
        "--no-cache",
        "--extend-exclude",
        UNREADABLE,
        ".",
        "../tasks",
        "../examples",
        "../bench");
  }

  @Test
  void everyFileIsFormatted() throws Exception {
    assertPasses(
        tools.resolve("bin/ruff").toString(),
        "format",
        "--no-cache",
        "--diff",
        "--extend-exclude",
        UNREADABLE,
        ".",
        "../tasks",
        "../examples",
        "../bench");
  }

  private static void assertPasses(String... command) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).directory(WORKER.toFile());
    builder.redirectErrorStream(true).environment().put("PYTHONPATH", tools.toString());
    if (Boolean.getBoolean("kbx.soak")) builder.environment().put("KBX_SOAK", "1");
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      List<String> lines = lines(process);
      List<String> tail = lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size());
      assertThat(process.waitFor())
          .as("%s\n%s", String.join(" ", command), String.join("\n", tail))
          .isZero();
      tail.stream()
          .skip(Math.max(0, tail.size() - 1))
          .forEach(line -> System.err.println("worker: " + line));
    } finally {
      process.destroyForcibly();
    }
  }

  private static List<String> lines(Process process) {
    try (Stream<String> lines = process.inputReader(StandardCharsets.UTF_8).lines()) {
      return lines.toList();
    }
  }
}

package dev.kbx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.python.DevTools;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The worker's own tests, in the interpreter that workers run in, and the rules for all Python of
 * this repository. Of tests that are alike for every task some are left to the property {@code
 * kbx.soak}, with which only the files that have such tests run.
 */
class WorkerTest {
  private static final Path WORKER = TestPython.home().resolve("worker");

  /** An example that is no Python. */
  private static final String UNREADABLE = "../examples/mistakes/syntax";

  private static Path tools;
  private static PythonChecks checks;

  @BeforeAll
  static void installTools() throws Exception {
    tools = DevTools.install(TestPython.interpreter(), TestPython.home(), TestPython.progress());
    checks = new PythonChecks(WORKER, Map.of(), tools);
  }

  @Test
  @Tag("soak")
  void pytestPasses() throws Exception {
    Stream<String> pytest =
        Stream.of(
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
    Stream<String> files = Boolean.getBoolean("kbx.soak") ? filesWithMore().stream() : Stream.of();
    checks.assertPasses(Stream.concat(pytest, files).toArray(String[]::new));
  }

  /** The files of tests that try more in a soak test than in {@code mvn verify}. */
  private static List<String> filesWithMore() throws IOException {
    List<String> files = new ArrayList<>();
    try (DirectoryStream<Path> tests =
        Files.newDirectoryStream(WORKER.resolve("tests"), "test_*.py")) {
      for (Path file : tests) {
        if (Files.readString(file).contains("from soak import")) {
          files.add(WORKER.relativize(file).toString());
        }
      }
    }
    assertThat(files).isNotEmpty();
    return files;
  }

  @Test
  void ruffFindsNothing() throws Exception {
    ruff("check", "--no-cache");
  }

  @Test
  void everyFileIsFormatted() throws Exception {
    ruff("format", "--no-cache", "--diff");
  }

  private static void ruff(String... command) throws Exception {
    Stream<String> files =
        Stream.of(
            "--extend-exclude",
            UNREADABLE,
            ".",
            "../tasks",
            "../examples",
            "../bench",
            "../clients");
    checks.assertPasses(
        Stream.of(Stream.of(tools.resolve("bin/ruff").toString()), Stream.of(command), files)
            .flatMap(words -> words)
            .toArray(String[]::new));
  }
}

package dev.kbx;

import dev.kbx.python.DevTools;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The worker's own tests, in the interpreter that workers run in, and the rules for all Python of
 * this repository. Of cases that are alike some are left to the property {@code kbx.soak}, with
 * which no others run: {@code worker/tests/soak.py} says how.
 */
class WorkerTest {
  private static final Path WORKER = TestPython.home().resolve("worker");

  /** An example that is not Python. */
  private static final String UNREADABLE = "../examples/mistakes/syntax";

  private static Path tools;
  private static PythonChecks checks;

  @BeforeAll
  static void installTools() throws Exception {
    tools = DevTools.install(TestPython.interpreter(), TestPython.home(), TestPython.progress());
    checks = new PythonChecks(WORKER, Map.of(), tools);
  }

  @TestFactory
  @Tag("soak")
  List<DynamicTest> pytest(@TempDir Path folder) throws Exception {
    return checks.pytest(
        folder.resolve("pytest.xml"),
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

  /** The types of the trusted side. */
  @TestFactory
  List<DynamicTest> mypy() throws Exception {
    return checks.mypy(TestPython.interpreter().executable().toString(), "../target/mypy-worker");
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
            "../bridge",
            "../clients");
    checks.assertPasses(
        Stream.of(Stream.of(tools.resolve("bin/ruff").toString()), Stream.of(command), files)
            .flatMap(words -> words)
            .toArray(String[]::new));
  }
}

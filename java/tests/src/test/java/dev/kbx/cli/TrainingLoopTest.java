package dev.kbx.cli;

import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kbx.PythonChecks;
import dev.kbx.TestPython;
import dev.kbx.python.DevTools;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The Python client's adapters with the real training libraries, a tiny model and a real server.
 */
@Tag("soak-only")
class TrainingLoopTest {
  private static String python;
  private static Path tools;

  @BeforeAll
  static void installTools() throws Exception {
    String version = TestPython.interpreter().versions().get("python");
    assumeThat(version).as("verifiers needs Python 3.11").doesNotStartWith("3.10.");
    python = TestPython.interpreter().executable().toString();
    tools = DevTools.install(TestPython.interpreter(), TestPython.home(), TestPython.progress());
  }

  /** TRL and verifiers; OpenEnv: each set with its own libraries. */
  @ParameterizedTest
  @ValueSource(strings = {"training", "openenv"})
  void adaptersJudgeKernels(String set, @TempDir Path folder) throws Exception {
    Path libraries =
        DevTools.installTraining(
            TestPython.interpreter(), TestPython.home(), TestPython.progress(), set);
    Path client = TestPython.home().resolve("clients/python");
    try (ServedKbx server = ServedKbx.start(folder)) {
      Map<String, String> environment = Map.of("HF_HUB_OFFLINE", "1", "KBX_URL", server.url());
      new PythonChecks(client, environment, libraries, tools)
          .assertPasses(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/" + set);
    }
  }
}

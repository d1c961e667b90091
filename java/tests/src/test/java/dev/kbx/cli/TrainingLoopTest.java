package dev.kbx.cli;

import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kbx.PythonChecks;
import dev.kbx.TestPython;
import dev.kbx.python.DevTools;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Python client's adapters with the real training libraries, a tiny model and a real server.
 */
@Tag("soak-only")
class TrainingLoopTest {
  private static String python;
  private static Path tools;
  private static Path training;

  @BeforeAll
  static void installLibraries() throws Exception {
    String version = TestPython.interpreter().versions().get("python");
    assumeThat(version).as("verifiers needs Python 3.11").doesNotStartWith("3.10.");
    python = TestPython.interpreter().executable().toString();
    tools = DevTools.install(TestPython.interpreter(), TestPython.home(), TestPython.progress());
    training =
        DevTools.installTraining(
            TestPython.interpreter(), TestPython.home(), TestPython.progress());
  }

  @Test
  void adaptersJudgeKernelsOfATinyModel(@TempDir Path folder) throws Exception {
    Path client = TestPython.home().resolve("clients/python");
    try (ServedKbx server = ServedKbx.start(folder)) {
      Map<String, String> environment = Map.of("HF_HUB_OFFLINE", "1", "KBX_URL", server.url());
      new PythonChecks(client, environment, training, tools)
          .assertPasses(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/training");
    }
  }
}

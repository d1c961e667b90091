package dev.kbx;

import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kbx.python.DevTools;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The Python client's adapters with the real training libraries, a tiny model and a real server.
 */
@Tag("soak-only")
class TrainingLoopTest {
  private static final Path CLIENT = TestPython.home().resolve("clients/python");

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
  void adaptersJudgeWhatATinyModelWrites() throws Exception {
    new PythonChecks(CLIENT, Map.of("HF_HUB_OFFLINE", "1"), training, tools)
        .assertPasses(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/training");
  }
}

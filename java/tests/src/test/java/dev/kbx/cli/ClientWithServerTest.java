package dev.kbx.cli;

import dev.kbx.PythonChecks;
import dev.kbx.TestPython;
import dev.kbx.python.DevTools;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Python client with {@code kbx serve} and workers that judge. */
@Tag("soak-only")
class ClientWithServerTest {
  private static String python;
  private static Path tools;

  @BeforeAll
  static void installTools() throws Exception {
    python = TestPython.interpreter().executable().toString();
    tools = DevTools.install(TestPython.interpreter(), TestPython.home(), TestPython.progress());
  }

  @Test
  void theClientJudges(@TempDir Path folder) throws Exception {
    Path client = TestPython.home().resolve("clients/python");
    try (ServedKbx server = ServedKbx.start(folder)) {
      new PythonChecks(client, Map.of("KBX_URL", server.url()), tools)
          .assertPasses(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/server");
    }
  }
}

package dev.kbx;

import dev.kbx.python.DevTools;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The Python client's own tests and its types. */
class ClientTest {
  private static final Path CLIENT = TestPython.home().resolve("clients/python");

  private static String python;
  private static PythonChecks checks;

  @BeforeAll
  static void installTools() throws Exception {
    python = TestPython.interpreter().executable().toString();
    Path tools =
        DevTools.install(TestPython.interpreter(), TestPython.home(), TestPython.progress());
    checks = new PythonChecks(CLIENT, Map.of(), tools);
  }

  @TestFactory
  List<DynamicTest> pytest(@TempDir Path folder) throws Exception {
    return checks.pytest(
        folder.resolve("pytest.xml"), python, "-m", "pytest", "-q", "-p", "no:cacheprovider");
  }

  @TestFactory
  @Tag("soak-only")
  List<DynamicTest> mypy() throws Exception {
    return checks.mypy(python, "../../target/mypy");
  }
}

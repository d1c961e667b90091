package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

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
 * Requests that schemathesis makes from the contract: none is answered with 500 or outside of it.
 * {@code -Dkbx.fuzz.seconds=1200} does it for longer.
 */
@Tag("soak-only")
class ContractFuzzTest {
  private static final int SECONDS = Integer.getInteger("kbx.fuzz.seconds", 90);

  /**
   * Without {@code positive_data_acceptance}, as whether a task exists is beyond a schema, and
   * {@code negative_data_rejection}, as a null counts as absent, and {@code use_after_free}, as an
   * ended session and a cancelled judgement can still be read.
   */
  private static final String CHECKS =
      "not_a_server_error,status_code_conformance,content_type_conformance,"
          + "response_headers_conformance,response_schema_conformance,missing_required_header,"
          + "unsupported_method,allow_header_conformance,ignored_auth";

  private static String python;
  private static Path fuzzer;

  @BeforeAll
  static void installFuzzer() throws Exception {
    python = TestPython.interpreter().executable().toString();
    fuzzer =
        DevTools.installFuzzer(TestPython.interpreter(), TestPython.home(), TestPython.progress());
  }

  @Test
  void answersToRandomRequestsFollowTheContract(@TempDir Path folder) throws Exception {
    Path own = Path.of("java/tests/src/test/resources/contract").toAbsolutePath();
    try (ScriptedServer server = new ScriptedServer(folder, true)) {
      String token = server.token("fuzzer", "admin");
      var judged = server.as(token).submit("?wait=20", "def relu(x):\n    return x\n");
      assertThat(judged.statusCode()).as(judged.body()).isEqualTo(200);
      new PythonChecks(folder, Map.of("SCHEMATHESIS_HOOKS", "hooks"), fuzzer, own)
          .assertPasses(
              python,
              fuzzer.resolve("bin/schemathesis").toString(),
              "--config-file",
              own.resolve("schemathesis.toml").toString(),
              "run",
              server.url() + "/openapi.yaml",
              "--url",
              server.url(),
              "--header",
              "Authorization: Bearer " + token,
              "--checks",
              CHECKS,
              "--max-time",
              Integer.toString(SECONDS),
              "--request-timeout",
              "90",
              "--continue-on-failure",
              "--no-color");
    }
  }
}

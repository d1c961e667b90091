package dev.kbx.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.TestPython;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whoever greets kbx speaks its version: the bridge to Ray is started in soak alone. */
class ProtocolVersionTest {
  @ParameterizedTest
  @CsvSource({
    "worker/kbx/__init__.py, 'PROTOCOL = %d'",
    "bridge/kbx_bridge/__main__.py, 'PROTOCOL = %d'",
    "bench/simulated/worker/kbx/__init__.py, '\"protocol\": %d,'",
    "java/tests/src/test/resources/fake/worker/kbx/__init__.py, '\"protocol\": %d,'",
    "docs/protocol.md, 'version %d'",
  })
  void allPeersHaveTheSameVersion(String file, String text) throws IOException {
    assertThat(Files.readString(TestPython.home().resolve(file)))
        .contains(text.formatted(Message.PROTOCOL));
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Every control of every bundled task does what it must, on the CPU. */
class SuiteControlsTest {
  @TempDir private Path folder;

  @Test
  void everyTaskIsSound() throws Exception {
    Kbx.Result result = Kbx.run(folder, "tasks", "verify", "--device", "cpu", "--json");
    List<String> unsound = new ArrayList<>();
    for (JsonNode task : result.json()) {
      if (task.has("problem")) unsound.add(task.get("problem").asString());
      for (JsonNode control : task.get("controls")) {
        if (!control.get("ok").asBoolean()) unsound.add(task.get("name") + " " + control);
      }
      assertThat(task.get("controls").size()).as(task.get("name").asString()).isGreaterThan(8);
    }
    assertThat(unsound).isEmpty();
    assertThat(result.exit()).isZero();
  }
}

package dev.kbx.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.task.Task;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class SeedsTest {
  @Test
  void seedDependsOnSourceAndIsRepeatable() {
    String seed = Seeds.of("secret", task("relu"), "abc");
    assertThat(seed).matches("[0-9a-f]{32}").isEqualTo(Seeds.of("secret", task("relu"), "abc"));
    assertThat(Seeds.of("secret", task("relu"), "abd")).isNotEqualTo(seed);
    assertThat(Seeds.of("secret", task("gelu"), "abc")).isNotEqualTo(seed);
    assertThat(Seeds.of("other", task("relu"), "abc")).isNotEqualTo(seed);
  }

  private static Task task(String name) {
    return new Task(
        "s",
        "c",
        name,
        name,
        "",
        null,
        null,
        List.of(),
        false,
        "",
        "",
        List.of(),
        null,
        Path.of("f"),
        null);
  }
}

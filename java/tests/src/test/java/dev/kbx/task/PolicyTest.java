package dev.kbx.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a candidate may leave to PyTorch is said wherever a task is shown. */
class PolicyTest {
  private static Task task(String... tags) {
    return new Task(
        "suite",
        "Math",
        "abs",
        "abs",
        "abs(x)",
        null,
        null,
        List.of(tags),
        false,
        "Magnitudes.",
        "def abs(x):\n    return torch.abs(x)",
        List.of("torch.abs"),
        null,
        Path.of("abs.py"),
        null);
  }

  private static Task module() {
    return new Task(
        "suite",
        "level1",
        "19_ReLU",
        Task.MODULE,
        "ModelNew().forward(x)",
        null,
        null,
        List.of(),
        false,
        "ReLU.",
        "class Model: ...",
        List.of(),
        null,
        Path.of("19_ReLU.py"),
        null);
  }

  @Test
  void functionsAreKernelsUnlessImported() {
    assertThat(Policy.usual(task("elementwise"))).isEqualTo(Policy.KERNEL);
    assertThat(Policy.usual(task(Task.OWN))).isEqualTo(Policy.KERNEL);
    assertThat(Policy.usual(task("imported"))).isEqualTo(Policy.MIXED);
  }

  @Test
  void modulesMayBeMixed() {
    assertThat(Policy.usual(module())).isEqualTo(Policy.MIXED);
  }

  @Test
  void referencesMayBeByAnybody() {
    assertThat(Policy.usual(task().tagged(Policy.ANY_TAG))).isEqualTo(Policy.ANY);
    assertThat(Policy.of("any")).isEmpty();
  }

  @Test
  void promptEndsWithThePolicy() {
    assertThat(Bundled.STATEMENT.general(task(), Policy.KERNEL, null))
        .endsWith(Bundled.STATEMENT.policy(task(), Policy.KERNEL));
    assertThat(Bundled.STATEMENT.general(task(), Policy.MIXED, null))
        .endsWith(Bundled.STATEMENT.policy(task(), Policy.MIXED));
  }

  @ParameterizedTest
  @EnumSource(value = Policy.class, names = "ANY", mode = EnumSource.Mode.EXCLUDE)
  void textNamesPolicyAndKernelLanguages(Policy policy) {
    assertThat(Bundled.STATEMENT.policy(task(), policy))
        .startsWith("Policy `%s`: ".formatted(policy.label()));
    assertThat(Bundled.STATEMENT.policy(task(), policy)).doesNotContain("CUDA");
    for (String language : List.of("Triton", "inline CUDA C++", "TileLang", "CuTe DSL")) {
      assertThat(Bundled.STATEMENT.policy(module(), policy)).contains(language);
      assertThat(policy.advice(module())).contains(language);
    }
  }
}

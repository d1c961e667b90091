package dev.kbx.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

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
        Path.of("abs.py"));
  }

  @Test
  void ownTasksAreHeldToIt() {
    assertThat(Policy.of(task("elementwise"))).isEqualTo(Policy.TRITON);
    assertThat(Policy.TRITON.enforced()).isTrue();
  }

  @Test
  void importedTasksNeverSaidSo() {
    assertThat(Policy.of(task("imported"))).isEqualTo(Policy.REPORTED);
    assertThat(Policy.REPORTED.enforced()).isFalse();
  }

  @Test
  void promptAndTaskEndWithIt() {
    assertThat(Prompt.general(task())).endsWith(Policy.TRITON.text());
    assertThat(TaskView.text(task())).endsWith(Policy.TRITON.text());
    assertThat(Prompt.general(task("imported"))).endsWith(Policy.REPORTED.text());
  }
}

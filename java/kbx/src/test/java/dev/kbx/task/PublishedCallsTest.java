package dev.kbx.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a prompt says of the arguments that decide. */
class PublishedCallsTest {
  private static final Suite SUITE = Bundled.suite("kernelbenchx");

  private static Task task(String name) {
    return SUITE.find(name).getFirst();
  }

  private static List<String> lines(String name) {
    return PublishedCalls.of(task(name)).orElseThrow().lines();
  }

  @Test
  void aTaskThatIsTestedForOneOption() {
    assertThat(lines("gelu"))
        .containsExactly(
            "Tensor arguments are contiguous.",
            "Their dtype is `float32`, unless the statement gives an argument another one.",
            "No tensor is empty, of one element or of shape `()`.",
            "Of the arguments with a default, only `approximate` is given another value.");
  }

  @Test
  void whatIsTestedIsAskedFor() {
    assertThat(lines("div"))
        .contains(
            "Some are of shape `()`. No tensor is empty or of one element.",
            "Tensors of different shapes are broadcast.",
            "Every argument that has a default is at its default.");
    assertThat(lines("scatter"))
        .contains("Tensor arguments are contiguous, but some have gaps or permuted dimensions.");
    assertThat(lines("fused_relu_sqrt"))
        .contains(
            "Their dtype is `float32` or `int64`, unless the statement gives an argument another"
                + " one.",
            "Of the arguments with a default, only `inplace` and `out` are given another value.");
  }

  @Test
  void aStatementThatPromisesBroadcastingIsTakenBack() {
    assertThat(lines("add")).contains("No tensor is broadcast against another.");
    assertThat(lines("gelu")).noneMatch(line -> line.contains("broadcast"));
  }

  @Test
  void everyTaskOfTheSuiteSaysIt() {
    assertThat(SUITE.tasks())
        .allSatisfy(task -> {
          assertThat(PublishedCalls.of(task)).as(task.path()).isPresent();
          assertThat(Bundled.STATEMENT.published(task, Policy.KERNEL, null))
              .contains("## Arguments that decide", "NaN");
          assertThat(Bundled.STATEMENT.general(task, Policy.KERNEL, null))
              .contains("NaN or infinities may be made")
              .doesNotContain("## Arguments that decide");
        });
  }

  @Test
  void aTaskWithoutPublishedTestsHasOnePrompt() {
    Task module = Bundled.suite("kernelbench").find("level1/19").getFirst();
    assertThat(PublishedCalls.of(module)).isEmpty();
    assertThat(Bundled.STATEMENT.published(module, Policy.MIXED, null))
        .isEqualTo(Bundled.STATEMENT.general(module, Policy.MIXED, null));
  }
}

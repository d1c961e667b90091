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
    String statement = Bundled.STATEMENT.published(task(name), Policy.KERNEL, null);
    return statement
        .lines()
        .dropWhile(line -> !line.equals("## Arguments that decide"))
        .takeWhile(line -> !line.startsWith("The kernel is also called"))
        .filter(line -> line.startsWith("- "))
        .map(line -> line.substring(2))
        .toList();
  }

  @Test
  void singleTestedOptionIsListed() {
    assertThat(lines("gelu"))
        .containsExactly(
            "Tensor arguments are contiguous.",
            "Their dtype is `float32`, except where the statement gives an argument another dtype.",
            "Empty tensors: none. Tensors of one element: none. Tensors of shape `()`: none.",
            "Of the arguments with a default, only these are given another value: `approximate`.");
  }

  @Test
  void testedPropertiesAreListed() {
    assertThat(lines("div"))
        .contains(
            "Empty tensors: none. Tensors of one element: none. Tensors of shape `()`: some.",
            "Tensors of different shapes are broadcast.",
            "Every argument that has a default is given its default.");
    assertThat(lines("scatter"))
        .contains(
            "Tensor arguments are contiguous, with exceptions: some have gaps or permuted"
                + " dimensions.");
    assertThat(lines("fused_relu_sqrt"))
        .contains(
            "Their dtype is `float32` or `int64`, except where the statement gives an argument"
                + " another dtype.",
            "Of the arguments with a default, only these are given another value: `inplace`,"
                + " `out`.");
  }

  @Test
  void untestedBroadcastingIsExcluded() {
    assertThat(lines("add")).contains("No tensor is broadcast against another.");
    assertThat(lines("gelu")).noneMatch(line -> line.contains("broadcast"));
  }

  @Test
  void eachTaskOfTheSuiteHasPublishedCalls() {
    assertThat(SUITE.tasks())
        .allSatisfy(task -> {
          assertThat(PublishedCalls.of(task)).as(task.path()).isPresent();
          assertThat(Bundled.STATEMENT.published(task, Policy.KERNEL, null))
              .contains("## Arguments that decide", "NaN");
          assertThat(Bundled.STATEMENT.general(task, Policy.KERNEL, null))
              .contains("called with NaN or infinities")
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

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
  void argumentsAreListedAsThePublishedTestsPassThem() {
    assertThat(lines("gelu"))
        .containsExactly(
            "Tensor arguments are contiguous.",
            "Empty tensors: none. Tensors of one element: none.",
            "`input`: `float32`; dimensions: 1 or 2; values from -35.3 to 40.8.",
            "`approximate`: `'none'` or `'tanh'`, or left out.",
            "Every other argument that has a default is given its default.");
  }

  @Test
  void numbersAreRangesAndMayStandForTensors() {
    assertThat(lines("div"))
        .contains(
            "Empty tensors: none. Tensors of one element: `input` and `other`.",
            "`other`: `float32`; dimensions: 0, 1 or 2; values from -20.1 to 10.8.",
            "`other` also: `3`.");
    assertThat(lines("fused_cos_avg_pool1d")).contains("`stride`: `1` to `2`, or left out.");
    assertThat(lines("adaptive_avg_pool2d")).noneMatch(line -> line.startsWith("`output_size`"));
  }

  @Test
  void viewsAreAnnouncedWhereATestPassesOne() {
    assertThat(lines("scatter"))
        .contains("Tensor arguments are contiguous; `index` may be another view.");
  }

  @Test
  void broadcastingIsExcludedWhereNoTestHasIt() {
    assertThat(lines("div")).contains("Tensors of different shapes are broadcast.");
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

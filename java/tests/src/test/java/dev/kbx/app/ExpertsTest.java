package dev.kbx.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.Bundled;
import dev.kbx.error.InputException;
import dev.kbx.task.Suite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which suite and task a kernel of an expert is for. */
class ExpertsTest {
  private static final Suite FUNCTIONS = Bundled.suite("kernelbenchx");
  private static final Suite MODULES = Bundled.suite("kernelbench");
  private static final Suite SERVING = Bundled.suite("serving");
  private static final List<Suite> ALL = List.of(FUNCTIONS, MODULES, SERVING);

  @TempDir private Path folder;

  private Path write(String name, String code) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, code);
  }

  @Test
  void eachKernelIsForTheSuiteThatHasItsTask() throws Exception {
    var _ = write("relu.py", "a");
    var _ = write("MoE/topk_routing.py", "b");
    var _ = write("level_1_problem_19_sample_0_kernel.py", "c");
    Experts experts = Experts.read(List.of(folder), ALL);
    assertThat(experts.sources(FUNCTIONS)).isEqualTo(Map.of("Activation/relu", "a"));
    assertThat(experts.sources(SERVING)).isEqualTo(Map.of("MoE/topk_routing", "b"));
    assertThat(experts.sources(MODULES)).isEqualTo(Map.of("level1/19_ReLU", "c"));
  }

  @Test
  void folderMarkedForASuiteIsForThatSuite() throws Exception {
    var _ = write("SUITE", "serving\n");
    var _ = write("topk_routing.py", "b");
    Experts experts = Experts.read(List.of(folder), ALL);
    assertThat(experts.sources(SERVING)).containsOnlyKeys("MoE/topk_routing");
    assertThat(experts.sources(FUNCTIONS)).isEmpty();
  }

  @Test
  void linesOfAFileAreForSeveralSuites() throws Exception {
    Path file =
        write(
            "kernels.jsonl",
            """
            {"file": "relu.py", "predict": "a"}
            {"file": "topk_routing.py", "predict": "b"}
            """);
    Experts experts = Experts.read(List.of(file), ALL);
    assertThat(experts.sources(FUNCTIONS)).containsOnlyKeys("Activation/relu");
    assertThat(experts.sources(SERVING)).containsOnlyKeys("MoE/topk_routing");
  }

  @Test
  void kernelForNoServedSuiteIsRefused() throws Exception {
    var _ = write("relu.py", "a");
    var _ = write("topk_routing.py", "b");
    assertThatThrownBy(() -> Experts.read(List.of(folder), List.of(FUNCTIONS, MODULES)))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith("--baseline: " + folder.resolve("topk_routing.py") + ": ");
  }

  @Test
  void twoKernelsForATaskAreRefused() throws Exception {
    var _ = write("one/relu.py", "a");
    var _ = write("two/relu.py", "b");
    assertThatThrownBy(() -> Experts.read(List.of(folder), ALL))
        .isInstanceOf(InputException.class)
        .hasMessageEndingWith("are both for Activation/relu; give one of them");
  }
}

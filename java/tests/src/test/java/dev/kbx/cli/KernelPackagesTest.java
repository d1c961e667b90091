package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Kernels in TileLang and the CuTe DSL, on a machine without a GPU. */
class KernelPackagesTest {
  private static final Path CORPUS = Kbx.home().resolve("corpus/kernelbench");

  @TempDir private Path folder;

  @Test
  void candidatesThatNeedMissingPackagesFail() {
    Kbx.Result result =
        Kbx.here(
            "eval",
            CORPUS.resolve("tilelang"),
            CORPUS.resolve("cute"),
            "--suite",
            "kernelbench",
            "--device",
            "cpu",
            "--json",
            "--out",
            folder.resolve("out"));
    assertThat(result.exit()).as(result.err()).isZero();
    Map<String, String> messages = new HashMap<>();
    for (JsonNode verdict : result.json().get("verdicts")) {
      assertThat(verdict.get("status").asString()).isEqualTo("import_error");
      Path source = CORPUS.relativize(Path.of(verdict.get("source").asString()));
      messages.put(source.getName(0).toString(), verdict.get("message").asString());
    }
    assertThat(messages.get("tilelang")).contains("kernels of TileLang run only on a GPU");
    assertThat(messages.get("cute")).contains("kernels of the CuTe DSL run only on a GPU");
  }

  @ParameterizedTest
  @ValueSource(strings = {"kernel", "mixed"})
  void rulesRecogniseKernelsOfOtherPackages(String policy) {
    Kbx.Result result =
        Kbx.here(
            "check",
            CORPUS.resolve("tilelang"),
            CORPUS.resolve("cute"),
            "--suite",
            "kernelbench",
            "--policy",
            policy,
            "--severity",
            "note",
            "--strict");
    assertThat(result.exit()).as(result.out() + result.err()).isZero();
    assertThat(result.out()).doesNotContain("no-kernel");
  }
}

package dev.kbx.candidate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.task.Task;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CandidateTest {
  private static final Task GELU =
      new Task(
          "s",
          "Activation",
          "gelu",
          "gelu",
          "gelu(x)",
          null,
          null,
          List.of(),
          false,
          "x",
          "",
          List.of(),
          null,
          Path.of("f"),
          null);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "from torch.utils.cpp_extension import load_inline",
        "from torch.utils.ｃｐｐ_extension import load_inline",
      })
  void inlineCppIsFoundByItsPythonName(String code) {
    assertThat(candidate(code).bringsCpp()).isTrue();
  }

  @Test
  void sourceWithoutInlineExtensionHasNoCpp() {
    assertThat(candidate("import torch").bringsCpp()).isFalse();
  }

  private static Candidate candidate(String code) {
    return new Candidate(GELU, code, "a.py", 0, null, null, null);
  }
}

package dev.kbx.python;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.TestPython;
import dev.kbx.syntax.PythonSource;
import dev.kbx.syntax.PythonSource.SyntaxError;
import dev.kbx.syntax.SyntaxCheck;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What Python says of source, and who answers where there is none. */
class PythonSyntaxTest {
  private static final String BROKEN = "import torch\ndef f(x: pass";

  private static Optional<SyntaxError> error(SyntaxCheck check, String code) {
    return check.error(PythonSource.parse(code));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "def f(x)\\n  return x\\n | 1 | 9 | expected ':'",
        "def f():\\n  x = g(1,\\n | 2 | 8 | '(' was never closed",
        "é = \"😀\"; x = (ü\\n | 1 | 15 | '(' was never closed",
        "# why\\n  x = 1\\n | 2 | 2 | unexpected indent",
        "x = 1\\r\\nreturn x | 2 | 1 | 'return' outside function",
        "def f(a, b, a): pass | 1 | 13 | duplicate argument 'a' in function definition",
        "x = 1\\nprint \"a\" | 2 | 1 | Missing parentheses in call to 'print'",
        "x = 1\\0 | 1 | 6 | source code cannot contain null bytes",
        "# coding: utf-7\\nx = 1 | 1 | 11 | the source declares the encoding utf-7",
      },
      quoteCharacter = '\u0001')
  void errorHasPythonsMessageLineAndColumn(String code, int line, int column, String message) {
    String source = code.replace("\\n", "\n").replace("\\r", "\r").replace("\\0", "\0");
    assertThat(error(TestPython.syntax(), source))
        .hasValueSatisfying(error -> {
          assertThat(error.line()).isEqualTo(line);
          assertThat(error.column()).isEqualTo(column);
          assertThat(error.message()).contains(message);
          assertThat(error.certain()).isTrue();
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x = 1", "def f(x): return x, *[None] * 3", "'\\ud800'"})
  void validSourceHasNoError(String code) {
    assertThat(error(TestPython.syntax(), code)).isEmpty();
  }

  /** Neither may end in an error that is none, nor keep the next source from an answer. */
  @Test
  void questionAfterDeeplyNestedSourceIsAnswered() {
    for (String code : new String[] {"x = " + "-".repeat(200_000) + "1", "x = " + "(".repeat(99)}) {
      var _ = error(TestPython.syntax(), code);
      assertThat(error(TestPython.syntax(), BROKEN)).isPresent();
    }
  }

  /** None, and one that is no Python. */
  @ParameterizedTest
  @ValueSource(strings = {"", "/bin/true", "/nowhere/python"})
  void parserAnswersWithoutPython(String python) {
    Optional<Path> found = Optional.of(python).filter(name -> !name.isEmpty()).map(Path::of);
    try (var check = new PythonSyntax(() -> found, TestPython.home())) {
      assertThat(error(check, BROKEN))
          .hasValue(
              new SyntaxError(2, 1, "def f(x: pass", "kbx cannot read this without Python", false));
      assertThat(error(check, "x = 1\nreturn x")).isEmpty();
    }
  }

  @Test
  void parserAnswersInAFolderWithoutWorker(@TempDir Path folder) {
    try (var check =
        new PythonSyntax(() -> Optional.of(TestPython.interpreter().executable()), folder)) {
      assertThat(error(check, BROKEN)).map(SyntaxError::certain).hasValue(false);
    }
  }
}

package dev.kbx.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.TestPython;
import dev.kbx.candidate.Candidate;
import dev.kbx.task.Task;
import dev.kbx.verdict.Status;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StaticCheckTest {
  private static StaticCheck check() {
    return new StaticCheck(Rules.all(), Optional.empty(), TestPython.syntax());
  }

  private static Optional<InvalidSource> check(String code) {
    Task task =
        new Task(
            "s",
            "c",
            "AdamW",
            "adamw_step",
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
    return check().check(new Candidate(task, code, "o", 0, null, null, null)).broken();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "def adamw_step(p): pass",
        "def kernel_function(p): pass",
        "kernel_function = f",
        "class adamw_step: pass",
        "from a import b as adamw_step",
        "if x:\n  def adamw_step(p): pass\nelse:\n  adamw_step = None",
        "from a import *",
        "exec('def adamw_step(p): pass')",
        "globals().update(adamw_step=1)",
        "def adamw_step(p):\n  return p, *([None] * 4)",
        // Valid, and refused by the parser's grammar.
        "x = *[None] * 3, y",
      })
  void usableSourcePasses(String code) {
    assertThat(check(code)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | NO_CODE | 1 | the answer holds no Python source",
        "' \n ' | NO_CODE | 1 | the answer holds no Python source",
        "# adamw_step | NO_CODE | 1 | the answer holds no Python source",
        "I am sorry, I can't. | NO_CODE | 1 | the answer holds no Python source",
        "The adamw_step(p) function is hard. | NO_CODE | 1 | the answer holds no Python source",
        "'x = 1\ndef f(x' | SYNTAX_ERROR | 2 | '''('' was never closed'",
        "def f(p): pass | NO_ENTRY | 1 | nothing at top level is called adamw_step or"
            + " kernel_function",
        "import adamw_step.x as y | NO_ENTRY | 1 | nothing at top level is called adamw_step or"
            + " kernel_function",
        "print(1) | NO_ENTRY | 1 | nothing at top level is called adamw_step or kernel_function",
      })
  void unusableSourceHasStatusAndPlace(String code, Status status, int line, String message) {
    InvalidSource broken = check(code.replace("\\n", "\n")).orElseThrow();
    assertThat(broken.status()).isEqualTo(status);
    assertThat(broken.place().line()).isEqualTo(line);
    assertThat(broken.message()).isEqualTo(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "I am sorry, I can't: exec(input()) is no kernel.",
        "import torch\nexec(input())\ndef f(x: pass",
        "import torch\nexec(input())\n  torch.cuda.Event = None",
      })
  void rulesAreSkippedForASyntaxError(String code) {
    StaticReport report = check().check(code, null);
    assertThat(report.broken()).isPresent();
    assertThat(report.findings()).isEmpty();
  }

  @Test
  void nestedDefinitionIsNotTheEntry() {
    assertThat(check("class A:\n  def adamw_step(p): pass\ndef f():\n  adamw_step = 1"))
        .map(InvalidSource::status)
        .hasValue(Status.NO_ENTRY);
  }
}

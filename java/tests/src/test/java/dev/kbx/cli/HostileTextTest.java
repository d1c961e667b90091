package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Text of candidates, files and arguments that would drive the terminal. */
class HostileTextTest {
  private static final String HOSTILE = "\u001b[2J\u009b1m\u007f\u0007\b\u202eevil\u2066\rover";

  @TempDir private Path folder;

  private static void isSafe(Kbx.Result result) {
    String all = result.out() + result.err();
    assertThat(all).contains("[2J");
    assertThat(all.chars())
        .as(all)
        .noneMatch(c -> Character.getType(c) == Character.CONTROL && c != '\n' && c != '\t')
        .noneMatch(c -> c == 0x202e || c == 0x2066);
  }

  /** Of a predictions file: in a problem, in progress, in the table, in lists and analyses. */
  @Test
  void controlCharactersInPredictionsAreEscaped() throws Exception {
    String evil = "\\u001b[2J\\u009b1m\\u007f\\u202e\\n";
    Path file =
        Files.writeString(
            Files.createDirectory(folder.resolve("\u001b[2J\u009b")).resolve("p.jsonl"),
            """
            {"file": "%1$s", "predict": "x = 1"}
            {"file": "Activation/gelu.py", "predict": "def gelu(input): return input", "method": "%1$s", "model": "%1$s"}
            {"file": "Activation/gelu.py", "predict": "def gelu(input):\\n  %1$s = 1"}
            """
                .formatted(evil));
    Path out = folder.resolve("out");
    isSafe(Kbx.here("eval", file, "--stages", "static", "--out", out));
    isSafe(Kbx.here("check", file));
    isSafe(Kbx.here("runs", "list", "--out", out));
    isSafe(Kbx.here("analyze", "methods", "--out", out));
  }

  /** What was asked for is repeated in messages of kbx and of picocli. */
  @ParameterizedTest
  @CsvSource({
    "tasks, list, --suite, kernelbenchx",
    "tasks, show, --suite, kernelbenchx",
    "report, --format, latex, --out",
    "analyze, passk, --out, nowhere"
  })
  void controlCharactersInArgumentsAreEscaped(String one, String two, String three, String four) {
    Kbx.Result result = Kbx.here(one, two, three, four, HOSTILE);
    assertThat(result.exit()).isNotZero();
    isSafe(result);
  }

  @Test
  void controlCharactersInCommandNamesAreEscaped() {
    isSafe(Kbx.here(HOSTILE));
    isSafe(Kbx.here("eval", "--" + HOSTILE));
    isSafe(Kbx.here("eval", "--stages", HOSTILE, "x"));
  }
}

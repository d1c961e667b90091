package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad input of {@code kbx generate} and {@code kbx run}: one clear line and exit code 1. */
class MethodInputTest {
  @TempDir private Path folder;

  private static void refused(Kbx.Result result, String line) {
    assertThat(result.err()).isEqualTo("kbx: " + line + "\n");
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.out()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--temperature | -1   | 0 or more",
        "--temperature | NaN  | 0 or more",
        "--temperature | warm | is not a number",
        "--top-p       | 0    | above 0, at most 1",
        "--top-p       | 1.5  | above 0, at most 1",
        "--max-tokens  | 0    | at least 1",
      })
  void parametersOfRequestsAreChecked(String option, String value, String wrong) throws Exception {
    String line = "%s %s: %s".formatted(option, value, wrong);
    refused(Kbx.here("generate", "--method", "single", option, value), line);
    Path file =
        Files.writeString(
            folder.resolve("run.toml"),
            "[[method]]\nmethod = \"single\"\nmodel = \"m\"\n%s = \"%s\"\n"
                .formatted(option.substring(2), value));
    refused(Kbx.here("run", file), "%s: %s".formatted(file, line));
  }

  @ParameterizedTest
  @ValueSource(strings = {"cuda", "cute", "tilelang"})
  void tritonOnlyTasksAreRefusedInOtherLanguages(String language) {
    Object[] asked = {
      "--method",
      "single",
      "--model",
      "command:cat",
      "--tasks",
      "tanh",
      "--language",
      language,
      "--out",
      folder.resolve("out"),
    };
    String line =
        "--language %s: Activation/tanh takes Triton kernels only; tasks with a Model, as those of --suite kernelbench, and your own references take others"
            .formatted(language);
    for (String command : new String[] {"generate", "run"}) {
      refused(Kbx.here(PrecisionTest.with(new Object[] {command}, asked)), line);
    }
    refused(
        Kbx.here("generate", "--method", "single", "--show-prompt", "tanh", "--language", language),
        line);
    assertThat(folder.resolve("out")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "tasks = [\"tanh\"]  | tasks is not a single value; write tasks = \"…\", with several"
            + " separated by commas",
        "[[metod]]           | metod is not a key of the file; known: ",
        "help = true         | help is not a key of the file; known: ",
        "version = true      | version is not a key of the file; known: ",
        "stack-trace = true  | stack-trace is not a key of the file; known: ",
        "[grade]             | grade is not a single value; ",
      })
  void unknownKeysAreRefused(String wrong, String why) throws Exception {
    String methods = "[[method]]\nmethod = \"single\"\nmodel = \"m\"\n";
    String text = wrong.startsWith("[") ? methods + wrong : wrong + "\n" + methods;
    Path file = Files.writeString(folder.resolve("run.toml"), text);
    Kbx.Result result = Kbx.here("run", file);
    assertThat(result.err()).startsWith("kbx: %s: %s".formatted(file, why)).hasLineCount(1);
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void missingMethodIsNamed() throws Exception {
    Path file = Files.writeString(folder.resolve("run.toml"), "[[method]]\nmodel = \"m\"\n");
    for (Kbx.Result result : List.of(Kbx.here("generate"), Kbx.here("run", file))) {
      assertThat(result.err()).contains("--method: is missing; one of single,").hasLineCount(1);
      assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    }
    assertThat(Kbx.here("run", file).err())
        .startsWith("kbx: %s, [[method]] 1: --method: is missing".formatted(file));
  }

  @ParameterizedTest
  @CsvSource({"--budget, calls=3", "--method, single", "--model, m", "--shots, few"})
  void methodOptionsBesideAFileAreRefused(String flag, String value) throws Exception {
    String methods = "[[method]]\nmethod = \"single\"\nmodel = \"m\"\n";
    Path file = Files.writeString(folder.resolve("run.toml"), methods);
    String key = flag.substring(2);
    refused(
        Kbx.here("run", file, flag, value),
        "%s: %s has the methods; write %s into its [[method]] tables".formatted(flag, file, key));
    Files.writeString(
        file, "%s = \"%s\"\n%s".formatted(key.equals("method") ? "turns" : key, value, methods));
    refused(
        Kbx.here("run", file),
        "%s: %s is a key of [[method]] tables"
            .formatted(file, key.equals("method") ? "turns" : key));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--budget calls=0.5       | --budget: 'calls=0.5' is not a limit; write"
            + " calls=10,requests=20,tokens=50000,usd=0.50,wall=600,device=60, each above 0",
        "--budget calls=1,calls=2 | --budget: has 'calls' twice",
        "--name a/b               | --name a/b: names a folder of answers, too; leave out / and a"
            + " dot at the beginning",
        "--name ..                | --name ..: names a folder of answers, too; leave out / and a"
            + " dot at the beginning",
        "--model none             | --model none: only --method external and agent need none; 'kbx"
            + " models' lists what there is",
      })
  void namesAndModelsAreChecked(String wrong, String line) {
    List<Object> arguments =
        new ArrayList<>(List.of("generate", "--method", "single", "--tasks", "tanh"));
    arguments.addAll(List.of("--out", folder.resolve("out")));
    if (!wrong.startsWith("--model")) arguments.addAll(List.of("--model", "command:cat"));
    arguments.addAll(List.of(wrong.split(" ", -1)));
    refused(Kbx.here(arguments.toArray()), line);
    assertThat(folder.resolve("out")).doesNotExist();
  }

  @Test
  void programWithoutModelHasNoControlRun() {
    refused(
        Kbx.here("run", "--method", "external", "--program", "cat", "--control", "--tasks", "tanh"),
        "--control: asks the method's model, and there is none; name one with --model");
  }

  @Test
  void programWithoutLimitHasNoControlRun() {
    refused(
        Kbx.here(
            "run",
            "--method",
            "external",
            "--program",
            "cat",
            "--model",
            "command:cat",
            "--control",
            "--tasks",
            "tanh"),
        "--control: how many requests a program makes is not known beforehand; limit both"
            + " with --budget calls=N");
  }

  @Test
  void aFileThatIsNotTomlIsNamedWithItsLine() throws Exception {
    Path file = Files.writeString(folder.resolve("run.toml"), "tasks = \"*\"\nout = nowhere\n");
    Kbx.Result result = Kbx.here("run", file);
    assertThat(result.err()).startsWith("kbx: %s:2: is not TOML: ".formatted(file)).hasLineCount(1);
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
  }
}

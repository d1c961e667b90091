package dev.kbx.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.TestPython;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SuitesTest {
  @TempDir Path home;

  private void task(String path, String text) throws IOException {
    Path file = home.resolve("mini").resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private Suite mini() throws IOException {
    task(
        "Activation/gelu.py",
        """
        \"\"\"Gaussian error linear unit.

            Element by element.
        \"\"\"
        DIFFICULTY = 4
        DTYPE = "float32"
        TAGS = ("elementwise", "smooth")

        def gelu(input: torch.Tensor,
                 approximate: str = "none") -> torch.Tensor:
            return input
        """);
    task("Activation/gelu_fp16.py", "'x'\nEXTRA = True\ndef gelu_fp16(input): pass");
    task("Optimizer/AdamW.py", "'x'\nENTRY = 'adamw_step'\ndef adamw_step(param): pass");
    task("Math/exp.py", "'x'\ndef exp(x): pass");
    task("Math/_helper.py", "nothing");
    task("Math/notes.md", "nothing");
    task(".git/x.py", "nothing");
    return Suites.open("mini", home);
  }

  @Test
  void readsTasks() throws IOException {
    Suite suite = mini();
    assertThat(suite.name()).isEqualTo("mini");
    assertThat(suite.broken()).isEmpty();
    assertThat(suite.tasks())
        .extracting(Task::path)
        .containsExactly("Activation/gelu", "Activation/gelu_fp16", "Math/exp", "Optimizer/AdamW");
    Task gelu = suite.tasks().getFirst();
    assertThat(gelu.signature())
        .isEqualTo("gelu(input: torch.Tensor, approximate: str = \"none\") -> torch.Tensor");
    assertThat(gelu.statement()).isEqualTo("Gaussian error linear unit.\n\nElement by element.");
    assertThat(gelu.difficulty()).isEqualTo(4);
    assertThat(gelu.dtype()).isEqualTo("float32");
    assertThat(gelu.tags()).containsExactly("elementwise", "smooth");
    assertThat(gelu.extra()).isFalse();
    assertThat(suite.tasks().get(1).extra()).isTrue();
    assertThat(suite.tasks().getLast().entry()).isEqualTo("adamw_step");
    assertThat(suite.tasks().getLast().signature()).isEqualTo("adamw_step(param)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gelu | gelu",
        "Activation/gelu | gelu",
        "gelu* | gelu,gelu_fp16",
        "Activation/* | gelu,gelu_fp16",
        "*/exp | exp",
        "ex? | exp",
        "* | gelu,gelu_fp16,exp,AdamW",
        "exp, gelu , exp | gelu,exp",
      })
  void findsTasksBySelection(String selection, String names) throws IOException {
    assertThat(mini().find(selection)).extracting(Task::name).containsExactly(names.split(",", -1));
  }

  /** A task of another suite, in its level 1. */
  private void writeToOther(String file) throws IOException {
    Path level = Files.createDirectories(home.resolve("other/level1"));
    Files.writeString(level.resolve(file), "'x'\ndef relu(x): pass");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gleu | no task 'gleu' in suite mini; did you mean gelu?",
        "Math/exq | no task 'Math/exq' in suite mini; did you mean exp?",
        "adamw | no task 'adamw' in suite mini; did you mean AdamW?",
        "gelu,z* | no task 'z*' in suite mini; `kbx tasks list --suite mini` shows all",
        "math | no task 'math' in suite mini; did you mean Math/*?",
        "Optimizer/ | no task 'Optimizer/' in suite mini; did you mean Optimizer/*?",
        "relu | no task 'relu' in suite mini; it is one of suite other: give --suite other",
        "level1/* | no task 'level1/*' in suite mini; it is one of suite other: give --suite other",
        ", | no task is selected by ','",
      })
  void unknownTaskHasASuggestion(String selection, String message) throws IOException {
    Suite suite = mini();
    writeToOther("relu.py");
    assertThatThrownBy(() -> suite.find(selection))
        .isInstanceOf(UnknownTask.class)
        .hasMessage(message);
  }

  /** The parser's grammar refuses this one. */
  @Test
  void pythonDecidesWhetherATaskFileIsBroken() throws IOException {
    mini();
    task("Math/exp.py", "'x'\ndef exp(x):\n    return x, *[None] * 3\n");
    assertThat(Suites.open("mini", home).task("Math/exp")).isEmpty();
    Suite suite = Suites.open("mini", home, _ -> true, TaskCache.nowhere(), TestPython.syntax());
    assertThat(suite.task("Math/exp")).isPresent();
    assertThat(suite.broken()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\u0001',
      value = {
        "def exp(x): pass | 1 | has no statement; it is the docstring at the top of the file",
        "'x'\\ndef exq(x): pass | | has no reference: define exp(...) at top level, or name it"
            + " with ENTRY = \"...\"",
        "'x'\\nDTYPE = 3\\ndef exp(x): pass | 2 | DTYPE is no string",
        "'x'\\nDIFFICULTY = 9999999999\\ndef exp(x): pass | 2 | DIFFICULTY is not 1 to 5",
        "'x'\\nTAGS = (1,)\\ndef exp(x): pass | 2 | TAGS is not a tuple of strings",
        "'x'\\nEXTRA = f()\\ndef exp(x): pass | | EXTRA is not a literal; task files are read"
            + " without being run",
        "'x'\\ndef exp(x: pass | 2 | kbx cannot read this without Python: def exp(x: pass",
      })
  void brokenTaskDoesNotAffectOthers(String code, Integer line, String message) throws IOException {
    mini();
    task("Math/exp.py", code.replace("\\n", "\n"));
    Suite suite = Suites.open("mini", home);
    assertThat(suite.tasks()).hasSize(3);
    assertThat(suite.broken())
        .containsExactly(
            new BrokenTask("Math", "exp", home.resolve("mini/Math/exp.py"), line, message));
    assertThat(suite.unknown("exp")).contains("cannot be used").contains(message);
  }

  @Test
  void byteOrderMarkIsRemoved() throws IOException {
    mini();
    task("Math/exp.py", "\ufeff\"It is e^x.\"\nTAGS = ('a',)\ndef exp(x): return x\n");
    assertThat(Suites.open("mini", home).task("Math/exp"))
        .hasValueSatisfying(task -> {
          assertThat(task.statement()).isEqualTo("It is e^x.");
          assertThat(task.reference()).startsWith("def exp");
        });
  }

  @Test
  void taskThatIsNotUtf8IsBroken() throws IOException {
    mini();
    Files.write(home.resolve("mini/Math/exp.py"), new byte[] {'x', (byte) 0xff});
    assertThat(Suites.open("mini", home).broken())
        .extracting(BrokenTask::message)
        .containsExactly("is not UTF-8");
  }

  @Test
  void folderOfOtherPythonFilesHasNoTasks() throws IOException {
    Path file = home.resolve("scripts/tools/run.py");
    Files.createDirectories(file.getParent());
    Files.writeString(file, "print(1)");
    Suite suite = Suites.open(home.resolve("scripts").toString(), Path.of("none"));
    assertThatThrownBy(() -> suite.find("*"))
        .isInstanceOf(UnknownTask.class)
        .hasMessageStartingWith(
            home.resolve("scripts")
                + ": holds no task files: none of its .py files (1) is one, as "
                + file);
  }

  private Suite levels() throws IOException {
    for (String path : new String[] {"level1/23_Softmax", "level1/2_Two", "level2/23_Conv"}) {
      task(path + ".py", "'x'\nclass Model:\n def __init__(self): 0\n def forward(self): 0");
    }
    return Suites.open("mini", home);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "level1/23 | level1/23_Softmax",
        "level2/23,level1/2 | level1/2_Two,level2/23_Conv",
        "2 | level1/2_Two",
      })
  void findsByNumber(String selection, String paths) throws IOException {
    assertThat(levels().find(selection))
        .extracting(Task::path)
        .containsExactly(paths.split(",", -1));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "23 | did you mean level1/23_Softmax or level2/23_Conv?",
        "level1/3 | `kbx tasks list --suite mini` shows all",
        "level3/2 | `kbx tasks list --suite mini` shows all",
        "level1/41 | it is one of suite other: give --suite other",
      })
  void unknownOrAmbiguousNumberIsRefused(String selection, String hint) throws IOException {
    Suite suite = levels();
    writeToOther("41_relu.py");
    assertThatThrownBy(() -> suite.find(selection))
        .isInstanceOf(UnknownTask.class)
        .hasMessage("no task '" + selection + "' in suite mini; " + hint);
  }

  @Test
  void namesTheFolderThatATaskIsMissingFrom() throws IOException {
    mini();
    String folder = home.resolve("mini").toString();
    assertThat(Suites.open(folder, Path.of("none")).unknown("zzz"))
        .endsWith("`kbx tasks list --suite " + folder + "` shows all");
    Files.move(home.resolve("mini"), home.resolve(Suites.DEFAULT));
    assertThat(Suites.open(Suites.DEFAULT, home).unknown("zzz"))
        .endsWith("; `kbx tasks list` shows all");
  }

  @Test
  void operationsAreFunctionsAndProductsOtherwiseMethods() throws IOException {
    task("Math/a.py", model("return x @ self.w"));
    task("Math/b.py", model("return x.abs().mean()"));
    task("Math/c.py", model("x @= x\n        return torch.relu(x.abs())"));
    task("Math/d.py", model("return x * 2"));
    assertThat(Suites.open("mini", home).tasks())
        .extracting(Task::operations)
        .containsExactly(
            List.of("torch.matmul"),
            List.of("torch.Tensor.abs", "torch.Tensor.mean"),
            List.of("torch.matmul", "torch.relu"),
            List.of());
  }

  private static String model(String body) {
    return """
    "x"
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()

        def forward(self, x):
            %s
    """
        .formatted(body);
  }

  @Test
  void opensAFolder() throws IOException {
    mini();
    assertThat(Suites.open(home.resolve("mini").toString(), Path.of("none")).tasks()).hasSize(4);
  }

  @Test
  void refusesAFolderThatIsNotASuite() throws IOException {
    assertThatThrownBy(() -> Suites.open("nix", home))
        .isInstanceOf(InvalidSuite.class)
        .hasMessage("no suite 'nix': neither a folder nor a suite in " + home);
    mini();
    assertThatThrownBy(() -> Suites.open("nix", home))
        .isInstanceOf(InvalidSuite.class)
        .hasMessage("no suite 'nix': it is not a folder; the suites here are mini");
    Files.createDirectory(home.resolve("noise"));
    assertThatThrownBy(() -> Suites.open("nosie", home))
        .as("a suite that is not for users")
        .hasMessage("no suite 'nosie': it is not a folder; the suites here are mini");
    assertThatThrownBy(() -> Suites.open("minni", home))
        .hasMessage("no suite 'minni': did you mean mini?");
    assertThatThrownBy(() -> Suites.open("", home)).isInstanceOf(InvalidSuite.class);
    assertThatThrownBy(() -> Suites.open("\0", home)).isInstanceOf(InvalidSuite.class);
    Path empty = Files.createDirectory(home.resolve("empty"));
    assertThatThrownBy(() -> Suites.open("empty", home))
        .isInstanceOf(InvalidSuite.class)
        .hasMessageStartingWith(empty + ": holds no tasks");
  }

  @Test
  void showsATask() throws IOException {
    Task gelu = mini().tasks().getFirst();
    assertThat(TaskView.text(gelu))
        .startsWith(
            """
            gelu(input: torch.Tensor, approximate: str = "none") -> torch.Tensor

            task        mini Activation/gelu
            entry       gelu or kernel_function
            dtype       float32
            difficulty  4
            tags        elementwise, smooth
            file        %s

            Gaussian error linear unit.

            Element by element.
            """
                .formatted(gelu.file()))
        .endsWith("\nElement by element.\n");
    assertThat(Json.mapper().writeValueAsString(TaskView.of(gelu)))
        .startsWith(
            "{\"name\":\"gelu\",\"suite\":\"mini\",\"category\":\"Activation\",\"signature\":\"")
        .contains("\"extra\":false,\"entry\":\"gelu\",\"difficulty\":4,\"dtype\":\"float32\"");
  }
}

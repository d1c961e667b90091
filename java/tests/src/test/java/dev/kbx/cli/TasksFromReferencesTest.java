package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code kbx tasks new --from}. */
class TasksFromReferencesTest extends OwnReferenceCase {
  @Test
  void aReferenceMayImportFilesBesideItAndATaskFileMayNot() throws Exception {
    write("scales.py", "from more.deep import FACTOR\n\n\ndef scaled(x):\n    return x * FACTOR\n");
    Files.createDirectories(folder.resolve("more"));
    write("more/deep.py", "FACTOR = 3\n");
    write(
        "split_ref.py",
        "import torch\n"
            + "from scales import scaled\n\n\n"
            + "# inputs: f32[40]\n"
            + "def f(x):\n"
            + "    return scaled(x)\n");
    write("f.py", KERNEL.replace("BY", "3").replace("def scale(x, by)", "def f(x)"));
    Kbx.Result judged = eval("f.py", "--reference", "split_ref.py");
    assertThat(judged.out()).as(judged.err()).contains("1 of 1 correct");
    Kbx.Result refused =
        Kbx.run(folder, "tasks", "new", "split", "--from", "split_ref.py", "--device", "cpu");
    assertThat(refused.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(refused.err())
        .isEqualTo(
            "kbx: split_ref.py: imports files beside it, and a task file stands alone: first put"
                + " into it what it needs of more/deep.py, scales.py\n");
    assertThat(folder.resolve("my-tasks")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "# inputs: f32[40], f32[40]\n"
            + "# weights: 3\n"
            + "def f(x, state):\n"
            + "    state.add_(x)\n"
            + "    return x * 2\n",
        "class Model(torch.nn.Module):\n"
            + "    def forward(self, x, state):\n"
            + "        state.add_(x)\n"
            + "        return x * 2\n\n\n"
            + "def get_inputs():\n"
            + "    return [torch.randn(40), torch.zeros(40)]\n"
      })
  void updatedArgumentsAreInTheGeneratedTaskFile(String code) throws Exception {
    write("updating_ref.py", "import torch\n\n\n" + code);
    Path suite = folder.resolve("updating");
    Kbx.Result made =
        Kbx.here(
            "tasks",
            "new",
            "updating",
            "--from",
            folder.resolve("updating_ref.py"),
            "--out",
            suite,
            "--device",
            "cpu");
    assertThat(made.exit()).as(made.err()).isZero();
    assertThat(Files.readString(suite.resolve("own/updating.py")))
        .contains("MUTATES = (\"state\",)");
    assertThat(Files.readString(suite.resolve("own/updating.py")).contains("\nWEIGHTS = [3]\n"))
        .isEqualTo(code.contains("weights"));
  }

  private static final String GRADIENT =
      "x.requires_grad_()\n    return torch.autograd.grad(x.tanh(), x, by)[0]";

  @Test
  void taskFilesOfGradientsAreOfReferencesThatComputeThem() throws Exception {
    write(
        "my_ref.py",
        REFERENCE.replace(", 2.0", ", f32[16, 40]").replace("return x * by", GRADIENT));
    Path suite = folder.resolve("suite");
    Object[] make = {
      "tasks",
      "new",
      "grads",
      "--from",
      folder.resolve("my_ref.py"),
      "--out",
      suite,
      "--device",
      "cpu"
    };
    Kbx.Result made = Kbx.here(make);
    assertThat(made.exit()).as(made.err()).isZero();
    assertThat(made.out()).contains("written: ").doesNotContain("control ");
  }

  @Test
  void whatIsTriedAsATaskCanBeReadByAnotherUser() throws Exception {
    String check =
        """
        import os

        place = os.path.dirname(os.path.dirname(__file__))
        if os.path.basename(place).startswith(".new"):
            open(os.path.join(place, "..", "mode"), "w").write(oct(os.stat(place).st_mode & 0o5))
        """;
    write("seen_ref.py", check + Files.readString(folder.resolve("my_ref.py")));
    Path suite = folder.resolve("my-tasks");
    Object[] make = {"tasks", "new", "seen", "--from", folder.resolve("seen_ref.py")};
    Kbx.Result made = Kbx.here(PrecisionTest.with(make, "--device", "cpu", "--out", suite));
    assertThat(made.exit()).as(made.err()).isZero();
    assertThat(suite.resolve("mode")).content().isEqualTo("0o5");
  }

  @Test
  void taskMadeFromAReferenceVerifies() throws Exception {
    Object[] make = {"tasks", "new", "scaling", "--from", "my_ref.py", "--device", "cpu"};
    Kbx.Result made = Kbx.run(folder, make);
    assertThat(made.exit()).as(made.err()).isZero();
    assertThat(made.out())
        .startsWith("written: my-tasks/own/scaling.py\n")
        .contains("  kbx tasks show scaling --suite my-tasks\n");
    assertThat(folder.resolve("my-tasks")).isDirectoryNotContaining("glob:**/.new*");
    Kbx.Result verified =
        Kbx.here(
            "tasks",
            "verify",
            "scaling",
            "--suite",
            folder.resolve("my-tasks"),
            "--device",
            "cpu",
            "--out",
            folder.resolve("controls"));
    assertThat(verified.out()).contains("1 of 1 tasks sound");
    assertThat(Kbx.run(folder, make).err())
        .isEqualTo(
            "kbx: my-tasks/own/scaling.py: is there already; give another name, or delete it\n");
  }
}

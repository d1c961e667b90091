package dev.kbx.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An interpreter that the user names is used as it is, or refused with what to do. */
class NamedInterpreterTest {
  @TempDir Path folder;
  private final RecordedProgress progress = new RecordedProgress();
  private Path home;

  @BeforeEach
  void makeHome() throws Exception {
    home = Pythons.home(folder.resolve("home"), "six==1.17.0\n");
  }

  @Test
  void interpreterIsUsedUnchanged() throws Exception {
    Path python =
        Pythons.environment(
            folder.resolve("env"), "torch 2.11.0+cu130", "triton 3.6.0", "numpy 2.4.6");

    Interpreter interpreter = resolve(python);

    assertThat(interpreter.executable()).isEqualTo(python);
    assertThat(interpreter.provisioned()).isFalse();
    assertThat(interpreter.versions())
        .containsEntry("torch", "2.11.0+cu130")
        .containsEntry("triton", "3.6.0")
        .containsKey("python");
    assertThat(progress.notes).isEmpty();
    assertThat(home.resolve(".kbx")).doesNotExist();
  }

  @Test
  void interpreterMayBeNamedByTheEnvironment() throws Exception {
    Path python = Pythons.environment(folder.resolve("env"), "torch 2.11.0", "triton 3.6.0");
    Map<String, String> environment = Pythons.withPathTo();
    environment.put("KBX_PYTHON", python.toString());

    Interpreter interpreter =
        PythonEnvironment.resolve(Optional.empty(), environment, home, progress);

    assertThat(interpreter.executable()).isEqualTo(python);
    assertThat(progress.notes).singleElement().asString().contains("no numpy");
  }

  @Test
  void bareNameIsLookedUpOnThePath() throws Exception {
    Path python = Pythons.environment(folder.resolve("env"), "torch 2.11.0", "triton 3.6.0");
    Map<String, String> environment = Pythons.withPathTo(python);

    Interpreter interpreter =
        PythonEnvironment.resolve(Optional.of(Path.of("python3")), environment, home, progress);

    assertThat(interpreter.executable()).isEqualTo(python);
  }

  @Test
  void untestedVersionsAreUsedWithANote() throws Exception {
    Path python =
        Pythons.environment(
            folder.resolve("env"), "torch 2.5.1", "pytorch-triton 3.1.0", "numpy 2.2.6");

    assertThat(resolve(python).versions()).containsEntry("triton", "3.1.0");
    assertThat(progress.notes)
        .satisfiesExactly(
            torch -> assertThat(torch).startsWith("torch 2.5.1 is untested"),
            triton -> assertThat(triton).startsWith("triton 3.1.0 is untested"));
  }

  @Test
  void interpreterWithoutTorchIsRefused() throws Exception {
    Path python = Pythons.environment(folder.resolve("env"), "triton 3.6.0");

    assertRefused(python, python + " (--python) has no torch; install it there");
  }

  @Test
  void interpreterWithoutTritonIsRefused() throws Exception {
    Path python = Pythons.environment(folder.resolve("env"), "torch 2.11.0");

    assertRefused(python, "has no triton");
  }

  @Test
  void oldInterpreterIsRefused() throws Exception {
    Path python =
        Pythons.script(
            folder.resolve("old"),
            "#!/bin/sh\necho python=2.7.18\necho executable=/usr/bin/python2\n");

    assertRefused(python, "is Python 2.7.18; it must be 3.10 to 3.14");
  }

  @Test
  void missingInterpreterIsRefused() {
    assertRefused(folder.resolve("nowhere/python"), "which is not there");
  }

  @Test
  void nameMissingOnThePathIsRefused() {
    assertRefused(Path.of("no-such-python"), "which is not on the PATH");
  }

  @Test
  void folderIsRefused() {
    assertRefused(folder, "which is a folder");
  }

  @Test
  void nonExecutableFileIsRefused() throws Exception {
    assertRefused(Files.writeString(folder.resolve("python"), ""), "which is not executable");
  }

  @Test
  void failingInterpreterIsRefused() throws Exception {
    Path python = Pythons.script(folder.resolve("python"), "#!/bin/sh\necho broken >&2; exit 3\n");

    assertThatThrownBy(() -> resolve(python))
        .isInstanceOfSatisfying(
            PythonProblem.class,
            problem -> {
              assertThat(problem).hasMessageContaining("failed with exit status 3");
              assertThat(problem.details()).containsExactly("broken");
            });
  }

  @Test
  void programThatIsNotPythonIsRefused() throws Exception {
    assertRefused(
        Pythons.script(folder.resolve("python"), "#!/bin/sh\necho hello\n"),
        "is no Python; give the path of a python");
    assertRefused(Path.of("/bin/ls"), "--python: /bin/ls is no Python; give the path of a python");
    assertRefused(Pythons.script(folder.resolve("text"), "\0nonsense"), "text");
  }

  private Interpreter resolve(Path python) throws Exception {
    return PythonEnvironment.resolve(Optional.of(python), System.getenv(), home, progress);
  }

  private void assertRefused(Path python, String message) {
    assertThatThrownBy(() -> resolve(python))
        .isInstanceOf(PythonProblem.class)
        .hasMessageContaining(message)
        .satisfies(problem -> assertThat(problem.getMessage()).doesNotContain("\n"));
  }
}

package dev.kbx.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** kbx's own environment: real ones, with a package of 11 kB in torch's place. */
class ProvisioningTest {
  private static final String SMALL = "six==1.17.0\n";

  @TempDir Path folder;
  private final RecordedProgress progress = new RecordedProgress();
  private final Map<String, String> environment = Pythons.withPathTo(Pythons.base());

  /** One after the other, as each installs for seconds. */
  @Test
  @Tag("soak-only")
  @Timeout(Patience.SECONDS)
  void environmentIsCreatedReusedAndReplaced() throws Exception {
    Path home = Pythons.home(folder.resolve("a home"), SMALL);
    killWhileInstalling(home);

    Interpreter first = twoAtOnceMakeOne(home);
    assertThat(progress.notes)
        .as("a killed one is not trusted")
        .anyMatch(note -> note.startsWith("installing"));
    assertThat(first.provisioned()).isTrue();
    assertThat(first.executable()).isExecutable().startsWithRaw(home.resolve(".kbx"));
    assertThat(run(first.executable(), "import six, sys; assert sys.prefix != sys.base_prefix"))
        .isZero();

    progress.notes.clear();
    Interpreter second =
        PythonEnvironment.resolve(Optional.empty(), Pythons.withPathTo(), home, progress);
    assertThat(second).isEqualTo(first);
    assertThat(progress.notes).as("no Python was started").isEmpty();

    Files.delete(first.executable());
    assertThat(resolve(home).executable()).isEqualTo(first.executable()).isExecutable();

    Pythons.home(folder.resolve("a home"), "six==1.16.0\n");
    Interpreter other = passingOverUntestedVersions(home);
    assertThat(other.provisioned()).isTrue();
    assertThat(other.executable()).isNotEqualTo(first.executable());
  }

  /** With an index that never answers: pip waits for it until kbx is killed. */
  private void killWhileInstalling(Path home) throws Exception {
    Map<String, String> usual = Map.copyOf(environment);
    try (var index = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      environment.put("PIP_INDEX_URL", "http://127.0.0.1:" + index.getLocalPort());
      environment.put("NO_PROXY", "127.0.0.1");
      try (Child killed = child(home);
          Socket _ = index.accept()) {
        killed.process.destroyForcibly().waitFor();
      }
    }
    environment.keySet().retainAll(usual.keySet());
    environment.putAll(usual);
  }

  private Interpreter twoAtOnceMakeOne(Path home) throws Exception {
    List<Child> others = new ArrayList<>();
    var installing =
        new RecordedProgress(line -> {
          progress.notes.add(line);
          if (line.startsWith("installing torch and triton")) others.add(waitingChild(home));
        });
    Interpreter made = resolve(home, installing);
    try (Child other = others.getFirst()) {
      assertThat(other.awaitSuccess()).doesNotContain("installing torch and triton");
    }
    assertThat(others).hasSize(1);
    return made;
  }

  private Interpreter passingOverUntestedVersions(Path home) throws Exception {
    Path python =
        Pythons.environment(folder.resolve("env"), "torch 2.11.0", "triton 3.3.0", "numpy 2.4.6");
    progress.notes.clear();
    Interpreter own =
        PythonEnvironment.resolve(
            Optional.empty(), Pythons.withPathTo(python, Pythons.base()), home, progress);
    assertThat(progress.notes.getFirst()).contains("triton 3.3.0 is untested", "KBX_PYTHON=");
    return own;
  }

  /** Another kbx that waits for the one that installs. */
  private Child waitingChild(Path home) {
    try {
      Child child = child(home);
      await().atMost(Patience.LIMIT).until(() -> child.said("another kbx is installing"));
      return child;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void failedPipIsReportedWithItsLastLinesAndCleanedUp() throws Exception {
    Path home = Pythons.home(folder, "kbx-no-such-package==1.0\n");
    environment.put("PIP_NO_INDEX", "1");

    assertThatThrownBy(() -> resolve(home))
        .isInstanceOfSatisfying(
            PythonProblem.class,
            problem -> {
              assertThat(problem).hasMessageContaining("KBX_PYTHON");
              assertThat(String.join("\n", problem.details())).contains("kbx-no-such-package");
            });
    assertThat(Provisioner.of(home).existing()).isEmpty();
  }

  @Test
  void provisioningNeedsABaseInterpreter() throws Exception {
    Path home = Pythons.home(folder, SMALL);
    Path old =
        Pythons.script(
            folder.resolve("bin/python3"),
            "#!/bin/sh\necho python=3.6.8\necho executable=/usr/bin/python3.6\n");

    assertThatThrownBy(() ->
            PythonEnvironment.resolve(Optional.empty(), Pythons.withPathTo(old), home, progress))
        .isInstanceOf(PythonProblem.class)
        .hasMessageContaining("no Python 3.10 to 3.14")
        .hasMessageContaining("/usr/bin/python3.6 is Python 3.6.8");
  }

  @Test
  void python3WithTestedVersionsIsUsedUnprovisioned() throws Exception {
    Path home = Pythons.home(folder, SMALL);
    Path python =
        Pythons.environment(folder.resolve("env"), "torch 2.11.0", "triton 3.6.0", "numpy 2.4.6");

    Interpreter found =
        PythonEnvironment.resolve(Optional.empty(), Pythons.withPathTo(python), home, progress);

    assertThat(found.executable()).isEqualTo(python);
    assertThat(progress.notes).singleElement().asString().startsWith("using " + python);
    assertThat(home.resolve(".kbx")).doesNotExist();
  }

  @Test
  void namesTheFolderWithoutRequirements() {
    assertThatThrownBy(() -> resolve(folder))
        .isInstanceOf(PythonProblem.class)
        .hasMessageContaining("worker/requirements.txt cannot be read");
  }

  private Interpreter resolve(Path home) throws Exception {
    return resolve(home, progress);
  }

  private Interpreter resolve(Path home, Progress hearing) throws Exception {
    return PythonEnvironment.resolve(Optional.empty(), environment, home, hearing);
  }

  private static int run(Path python, String code) throws Exception {
    return new ProcessBuilder(python.toString(), "-c", code).inheritIO().start().waitFor();
  }

  private Child child(Path home) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            ResolveMain.class.getName(),
            home.toString());
    builder.environment().clear();
    builder.environment().putAll(environment);
    File output = File.createTempFile("child", ".txt", folder.toFile());
    return new Child(builder.redirectErrorStream(true).redirectOutput(output).start(), output);
  }

  /** Another kbx. */
  private record Child(Process process, File output) implements AutoCloseable {
    boolean said(String words) throws IOException {
      return Files.readString(output.toPath()).contains(words);
    }

    String awaitSuccess() throws Exception {
      int status = process.waitFor();
      String text = Files.readString(output.toPath());
      assertThat(status).as(text).isZero();
      return text;
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  /** Resolves with the environment it is started with. */
  static final class ResolveMain {
    private ResolveMain() {}

    public static void main(String[] args) throws Exception {
      PythonEnvironment.resolve(
          Optional.empty(),
          System.getenv(),
          Path.of(List.of(args).getFirst()),
          new TextProgress(System.err, null));
    }
  }
}

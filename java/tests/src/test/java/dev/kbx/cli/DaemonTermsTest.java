package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kbx.app.JudgingSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which commands a daemon may run, and where it listens; {@link DaemonTest} runs some. */
class DaemonTermsTest {
  @TempDir private Path folder;

  @BeforeEach
  void noGpu() {
    assumeTrue(JudgingSettings.gpus().isEmpty(), "there is a GPU, and so never a daemon");
  }

  private static boolean allowed(String command, Map<String, String> environment) {
    return DaemonTerms.allow(command.split(" "), environment);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval gelu.py",
        "eval gelu.py --suite serving",
        "eval gelu.py --suite=kernelbench --json",
      })
  void commandsThatJudgeByBundledSuitesMayBeRun(String command) {
    assertThat(allowed(command, Map.of("CI", "", "KBX_NO_DAEMON", ""))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval gelu.py --reference my_ref.py",
        "eval gelu.py --reference=my_ref.py",
        "eval gelu.py --suite ../mine",
        "eval gelu.py --suite=/mine",
        "eval gelu.py --suite nosuch",
        "eval gelu.py --backward",
        "eval gelu.py --cluster host:1",
        "eval gelu.py --watch",
        "eval gelu.py --no-daemon",
        "eval --help",
        "eval @arguments",
        "eval /dev/fd/63",
        "eval /proc/self/fd/63",
        "tasks verify gelu",
      })
  void otherCommandsRunByThemselves(String command) {
    assertThat(allowed(command, Map.of())).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"KBX_NO_DAEMON", "CI", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"})
  void whoWantsNoneGetsNone(String variable) {
    assertThat(allowed("eval gelu.py", Map.of(variable, "1"))).isFalse();
  }

  /** This test's process was not started by the launcher. */
  @Test
  void aProgramThatStartsTheClassesItselfGetsNone() {
    assertThat(DaemonTerms.allow(new String[] {"eval", "gelu.py"})).isFalse();
  }

  @Test
  void aFolderThatOthersMayUseIsNotUsed() throws Exception {
    Map<String, String> environment = Map.of("XDG_RUNTIME_DIR", folder.toString());
    Path place = DaemonTerms.folder(environment).orElseThrow();
    assertThat(DaemonTerms.folder(environment)).contains(place);
    Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThat(DaemonTerms.folder(environment)).isEmpty();

    Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwx------"));
    assertThat(DaemonTerms.folder(environment)).contains(place);
    assumeTrue(Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0));
    Files.setAttribute(place, "unix:uid", 65534);
    assertThat(DaemonTerms.folder(environment)).isEmpty();
  }

  @Test
  void theFolderIsWhereTheEnvironmentSays() throws Exception {
    assertThat(DaemonTerms.folder(Map.of("XDG_CACHE_HOME", folder.toString())).orElseThrow())
        .hasParent(folder);
    assertThat(DaemonTerms.folder(Map.of("HOME", folder.toString())).orElseThrow())
        .hasParent(folder.resolve(".cache"));
    assertThat(DaemonTerms.folder(Map.of("XDG_RUNTIME_DIR", "relative"))).isEmpty();
    assertThat(DaemonTerms.folder(Map.of())).isEmpty();
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.TestProgram;
import dev.kbx.TestPython;
import dev.kbx.python.RayEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * On a real Ray every candidate is judged once: while nodes freeze and die, while the cluster
 * scales, through Ray's client. A command that is interrupted, killed or done leaves no process on
 * any node. The scripts in {@code bridge/tests} say how.
 */
@Tag("soak-only")
class ClusterSoakTest {
  private static final int CANDIDATES = Integer.getInteger("kbx.cluster.candidates", 700);

  @TempDir private Path folder;

  @Test
  void eachCandidateIsJudgedOnceAndNoProcessRemains() throws Exception {
    run("soak.py", Integer.toString(CANDIDATES));
  }

  @Test
  void clusterScalesWithItsQueue() throws Exception {
    run("scaling.py");
  }

  @Test
  void nodesWithoutGpuCompileForTheGpuNode() throws Exception {
    run("compiling.py");
  }

  @Test
  void nodeOutOfMemoryIsNamedAndGetsFewerSlots() throws Exception {
    run("memory.py");
  }

  @Test
  void runContinuesAfterAClusterRestart() throws Exception {
    run("restart.py");
  }

  @Test
  void runThroughRayClientHasTheSameVerdicts() throws Exception {
    run("client.py");
  }

  @Test
  void rayAutoscalerReadsTheManifests() throws Exception {
    run("manifests.py");
  }

  /** Runs a script with an empty folder, more arguments and a command that starts kbx. */
  private void run(String script, String... more) throws Exception {
    Path python =
        RayEnvironment.resolve(System.getenv(), TestPython.home(), TestPython.progress())
            .executable();
    Path log = folder.resolve("log");
    List<String> command = new ArrayList<>(List.of(python.toString(), "bridge/tests/" + script));
    command.add(folder.resolve("out").toString());
    command.addAll(List.of(more));
    command.addAll(TestProgram.command("512m", "dev.kbx.cli.Main"));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().put(RayEnvironment.VARIABLE, python.toString());
    assertThat(builder.start().waitFor()).as(() -> read(log)).isZero();
  }

  private static String read(Path log) {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      return e.toString();
    }
  }
}

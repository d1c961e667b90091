package dev.kbx.cluster;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.Patience;
import dev.kbx.TestPython;
import dev.kbx.check.Rules;
import dev.kbx.device.PeakCache;
import dev.kbx.device.Workers;
import dev.kbx.judge.Binaries;
import dev.kbx.judge.BinaryCache;
import dev.kbx.judge.LocalReferee;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Task;
import dev.kbx.timing.BaselineCache;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Frames;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node without a GPU that compiles for those that have one, on real workers. */
class NodeServerTest {
  private static final Verdict.Device CPU = new Verdict.Device("cpu", "here", null, null, null);
  private static final Plan PLAN =
      new Plan(List.of(Stage.values()), Rules.all(), "sm_80", "secret", Limits.defaults());

  @TempDir private Path folder;

  @BeforeAll
  static void provision() {
    TestPython.interpreter();
  }

  @Test
  @Timeout(Patience.SECONDS)
  void kernelsAreCompiledForTheGpuOfAnotherNodeUnlessTheStaticStageRefuses() throws Exception {
    Task task = Bundled.suite("kernelbenchx").find("add").getFirst();
    String kernel = Files.readString(task.kernel());
    try (Workers workers = workers();
        Node node = new Node(workers)) {
      assertThat(node.answer()).isInstanceOf(NodeMessage.Ready.class);
      Binaries compiled = requireNonNull(node.compiled(1, task, kernel));
      assertThat(compiled.compiled().files().keySet()).anyMatch(name -> name.endsWith(".cubin"));
      assertThat(about(compiled)).contains("\"arch\": 90");
      assertThat(compiled.compiled().kernels().values())
          .isNotEmpty()
          .allMatch(each -> each.contains(".cubin"));
      assertThat(node.compiled(2, task, "import os\nos._exit(0)\n" + kernel)).isNull();
      assertThat(node.compiled(3, task, kernel)).isEqualTo(compiled);
    }
  }

  /** What Triton says about the kernel. */
  private static String about(Binaries compiled) throws IOException {
    String packed =
        compiled.compiled().files().entrySet().stream()
            .filter(each -> each.getKey().endsWith("/add_kernel.json"))
            .findFirst()
            .orElseThrow()
            .getValue();
    byte[] bytes = Base64.getDecoder().decode(packed);
    try (var in = new InflaterInputStream(new ByteArrayInputStream(bytes))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private Workers workers() {
    return new Workers(
        TestPython.interpreter().executable(),
        TestPython.home(),
        PeakCache.nowhere(),
        folder.resolve("compilers"),
        _ -> {});
  }

  /** A node's server, and the driver's end of its frames. */
  private final class Node implements AutoCloseable {
    private final OutputStream toNode;
    private final Frames frames;
    private final Thread server;

    Node(Workers workers) throws IOException {
      LocalReferee referee =
          new LocalReferee(
              List.of(workers.slot(DeviceSlot.cpu(0))),
              CPU,
              Map.of("worker", "1"),
              new BaselineCache(folder.resolve("baselines"), _ -> {}),
              BinaryCache.in(folder.resolve("compiled"), _ -> {}),
              SyntaxCheck.PARSER);
      Pipe there = Pipe.open();
      Pipe back = Pipe.open();
      toNode = Channels.newOutputStream(there.sink());
      frames = new Frames(Channels.newInputStream(back.source()), toNode, System::nanoTime);
      NodeServer node =
          new NodeServer(
              referee,
              CPU,
              folder,
              Channels.newInputStream(there.source()),
              Channels.newOutputStream(back.sink()));
      server =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  node.run();
                } catch (IOException | InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
    }

    NodeMessage answer() throws IOException {
      return Codec.ofNode(requireNonNull(frames.read()).payload());
    }

    @Nullable Binaries compiled(int id, Task task, String code) throws IOException {
      NodeMessage.SentCandidate sent =
          new NodeMessage.SentCandidate(
              Shipment.ofSuites(TestPython.home()).sent(task),
              code,
              "add.py",
              0,
              null,
              null,
              null,
              Map.of());
      frames.write(0, Codec.bytes(new NodeMessage.Compile(id, sent, PLAN, "sm_90")));
      NodeMessage.Compiled answer = (NodeMessage.Compiled) answer();
      assertThat(answer.id()).isEqualTo(id);
      return answer.binaries();
    }

    @Override
    public void close() throws IOException {
      toNode.close();
      try {
        server.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}

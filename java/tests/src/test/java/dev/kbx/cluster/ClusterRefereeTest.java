package dev.kbx.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.candidate.Candidate;
import dev.kbx.check.Rules;
import dev.kbx.judge.Ahead;
import dev.kbx.judge.Binaries;
import dev.kbx.judge.JudgingConditions;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The driver's side, with a bridge that the test plays. */
@Timeout(60)
class ClusterRefereeTest {
  private static final Verdict.Device H100 =
      new Verdict.Device("cuda", "NVIDIA H100 80GB HBM3", "GPU-1", "580.95.05", "sm_90");
  private static final Verdict.Device A100 =
      new Verdict.Device("cuda", "NVIDIA A100-SXM4-80GB", "GPU-2", "580.95.05", "sm_80");
  private static final Map<String, String> VERSIONS = Map.of("torch", "2.13.0");
  private static final Path HOME = Path.of("/kbx");

  private final List<String> notes = new ArrayList<>();
  private final FakeLink link = new FakeLink();

  /** What the referee sends, in order. */
  private static final class FakeLink implements Link {
    private record Sent(int channel, String payload) {
      byte[] bytes() {
        return payload.getBytes(StandardCharsets.UTF_8);
      }
    }

    private final BlockingQueue<Sent> sent = new LinkedBlockingQueue<>();

    /** Messages for the bridge, apart: on a slow machine the dispatcher scales by itself, too. */
    private final BlockingQueue<Sent> orders = new LinkedBlockingQueue<>();

    private Link.Listener listener =
        new Link.Listener() {
          @Override
          public void frame(int channel, byte[] payload) {
            throw new AssertionError("not opened");
          }

          @Override
          public void ended(String why) {
            throw new AssertionError("not opened");
          }
        };
    private final BlockingQueue<Link.Listener> opened = new LinkedBlockingQueue<>();
    private final CountDownLatch refused = new CountDownLatch(1);
    private volatile boolean away;
    private boolean closed;

    @Override
    public void send(int channel, byte[] payload) {
      (channel == 0 ? orders : sent)
          .add(new Sent(channel, new String(payload, StandardCharsets.UTF_8)));
    }

    @Override
    public void close() {
      closed = true;
    }

    void open() throws InterruptedException {
      Link.Listener next = opened.poll(30, TimeUnit.SECONDS);
      if (next == null) throw new AssertionError("not opened");
      listener = next;
    }

    /** The bridge ends, and another is started. */
    void ends() throws InterruptedException {
      listener.ended("the bridge ended");
      open();
    }

    void says(BridgeMessage message) {
      listener.frame(0, Codec.bytes(message));
    }

    void says(int slot, NodeMessage message) {
      listener.frame(slot, Codec.bytes(message));
    }

    private static Sent next(BlockingQueue<Sent> queue) throws InterruptedException {
      Sent next = queue.poll(30, TimeUnit.SECONDS);
      if (next == null) throw new AssertionError("nothing was sent");
      return next;
    }

    NodeMessage node(int slot) throws InterruptedException {
      Sent next = next(sent);
      assertThat(next.channel()).isEqualTo(slot);
      return Codec.ofNode(next.bytes());
    }

    NodeMessage.Judge request(int slot) throws InterruptedException {
      return (NodeMessage.Judge) node(slot);
    }

    BridgeMessage order() throws InterruptedException {
      Sent next = next(orders);
      return Codec.ofBridge(next.bytes());
    }
  }

  private ClusterReferee referee(String deviceClass) throws InterruptedException {
    SlotRegister register = register(deviceClass, false);
    return referee(register, dispatcher(register, OptionalInt.empty()));
  }

  private static ClusterReferee referee(SlotRegister register, ClusterDispatcher dispatcher) {
    return new ClusterReferee(Shipment.ofSuites(HOME), register, dispatcher);
  }

  private SlotRegister register(String deviceClass, boolean scales) {
    Optional<String> named = Optional.of(deviceClass).filter(name -> !name.isEmpty());
    return new SlotRegister(named, scales, notes::add);
  }

  private ClusterDispatcher dispatcher(SlotRegister register, OptionalInt slots)
      throws InterruptedException {
    ClusterDispatcher dispatcher =
        new ClusterDispatcher(
            listener -> {
              if (link.away) {
                link.refused.countDown();
                listener.ended(
                    "the bridge ended"); // As of a process that ends before its greeting.
                throw new ClusterProblem("no cluster there");
              }
              link.opened.add(listener);
              return link;
            },
            register,
            slots,
            notes::add);
    link.open();
    return dispatcher;
  }

  private void up(int slot, Verdict.Device device) {
    link.says(new BridgeMessage.SlotUp(slot, "node" + slot, "10.0.0." + slot, false));
    link.says(slot, new NodeMessage.Ready(device, VERSIONS, 1));
  }

  private void down(int slot) {
    link.says(new BridgeMessage.SlotDown(slot, "node" + slot, "10.0.0." + slot, "its node died"));
  }

  /** A judgement that the first slot has been asked for. */
  private CompletableFuture<Judgement> underWay(ClusterReferee referee) throws Exception {
    up(1, H100);
    CompletableFuture<Judgement> judged = judge(referee);
    var _ = link.request(1);
    return judged;
  }

  private static Plan plan() {
    return new Plan(
        List.of(Stage.values()),
        Rules.all().without(List.of(Rules.all().infos().getFirst().id())),
        "sm_90",
        "secret",
        Limits.defaults());
  }

  private static Candidate candidate() {
    Task task =
        new Task(
            "suite",
            "Math",
            "add",
            "add",
            "add(a, b)",
            null,
            null,
            List.of(),
            false,
            "Add.",
            "def add(a, b): ...",
            List.of(),
            null,
            HOME.resolve("tasks/suite/Math/add.py"),
            null);
    return new Candidate(
        task, "import triton\n\ndef add(a, b): return a", "add.py", 3, "m", null, 1);
  }

  /** Not on a thread of the common pool, whose threads complete what other tests wait for. */
  private static CompletableFuture<Judgement> judge(ClusterReferee referee) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return referee.judge(candidate(), plan());
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        },
        Thread::startVirtualThread);
  }

  private static Judgement judgement() {
    return new JudgingConditions(H100, VERSIONS).givenUp(candidate(), plan(), "a judgement");
  }

  @Test
  void candidatePlanAndJudgementSurviveTheWire() throws Exception {
    try (ClusterReferee referee = referee("")) {
      up(1, H100);
      CompletableFuture<Judgement> judged = judge(referee);
      NodeMessage.Judge request = link.request(1);
      assertThat(request.plan().toString()).isEqualTo(plan().toString());
      Task task = request.candidate().task().task(Shipment.on(Path.of("/tmp/unpacked")));
      assertThat(task).isEqualTo(candidate().task());
      assertThat(request.candidate().code()).isEqualTo(candidate().code());
      link.says(1, new NodeMessage.Judged(request.id(), judgement()));
      assertThat(judged.get()).isEqualTo(judgement());
    }
    assertThat(link.closed).isTrue();
  }

  @Test
  void candidateOfADeadNodeIsJudgedByAnotherNode() throws Exception {
    try (ClusterReferee referee = referee("")) {
      up(1, H100);
      CompletableFuture<Judgement> judged = judge(referee);
      NodeMessage.Judge lost = link.request(1);
      down(1);
      link.says(1, new NodeMessage.Judged(lost.id(), judgement()));
      assertThat(judged).isNotDone();
      up(2, H100);
      NodeMessage.Judge again = link.request(2);
      assertThat(again.id()).isNotEqualTo(lost.id());
      link.says(2, new NodeMessage.Judged(again.id(), judgement()));
      assertThat(judged.get()).isEqualTo(judgement());
    }
  }

  @Test
  void candidateThatKilledTwoNodesGetsInfrastructure() throws Exception {
    try (ClusterReferee referee = referee("")) {
      CompletableFuture<Judgement> judged = judge(referee);
      for (int slot = 1; slot <= 2; slot++) {
        up(slot, H100);
        var _ = link.request(slot);
        down(slot);
      }
      Judgement set = judged.get();
      assertThat(set.status()).isEqualTo(Status.INFRASTRUCTURE);
      assertThat(set.message())
          .isEqualTo(
              "given up after 2 attempts: 10.0.0.1: its node died; then 10.0.0.2: its node died");
      assertThat(set.lasting()).isFalse();
    }
  }

  /** So a judgement on a node that has left since is found again, whatever cards there are. */
  @Test
  void cardsOfOneModelShareRememberedVerdicts() throws Exception {
    try (ClusterReferee referee = referee("")) {
      Verdict.Device other =
          new Verdict.Device("cuda", H100.name(), "GPU-3", H100.driver(), H100.arch());
      up(1, H100);
      up(2, other);
      assertThat(referee.conditions()).hasSize(2);
      JudgingConditions kind = new JudgingConditions(H100, VERSIONS).onAnyCard();
      assertThat(referee.kinds()).containsExactly(kind);
      down(1);
      down(2);
      assertThat(referee.conditions()).isEmpty();
      assertThat(referee.kinds()).containsExactly(kind);
      assertThat(referee.accepts(H100)).isTrue();
    }
  }

  @Test
  void devicesOfAnotherModelAreNotUsed() throws Exception {
    try (ClusterReferee referee = referee("")) {
      up(1, H100);
      up(2, A100);
      assertThat(link.order()).isEqualTo(new BridgeMessage.Block("node2"));
      assertThat(referee.conditions()).containsExactly(new JudgingConditions(H100, VERSIONS));
      assertThat(notes).singleElement().asString().contains("cannot be compared");
    }
  }

  @Test
  void deviceClassIsMetByAnyNodeOfItsModel() throws Exception {
    try (ClusterReferee referee = referee("a100")) {
      up(1, H100);
      assertThat(link.order()).isEqualTo(new BridgeMessage.Block("node1"));
      up(2, A100);
      assertThat(referee.first().device()).isEqualTo(A100);
    }
  }

  @Test
  void candidateOfAFailedGpuIsJudgedByAnotherNode() throws Exception {
    try (ClusterReferee referee = referee("")) {
      up(1, H100);
      CompletableFuture<Judgement> judged = judge(referee);
      link.says(1, new NodeMessage.Failed(link.request(1).id(), "the GPU is lost", true));
      assertThat(link.order()).isEqualTo(new BridgeMessage.Drop(1));
      up(2, H100);
      link.says(2, new NodeMessage.Judged(link.request(2).id(), judgement()));
      assertThat(judged.get()).isEqualTo(judgement());
    }
  }

  /** A node without a GPU that is up before any that judges. */
  private void compilerUp(int slot, Map<String, String> versions) {
    link.says(new BridgeMessage.SlotUp(slot, "node" + slot, "10.0.0." + slot, true));
    Verdict.Device cpu = new Verdict.Device("cpu", "16 CPUs", null, null, null);
    link.says(slot, new NodeMessage.Ready(cpu, versions, 4));
  }

  @Test
  void nodeWithoutGpuCompilesCandidatesWaitingForAGpu() throws Exception {
    try (ClusterReferee referee = referee("")) {
      compilerUp(5, Map.of("torch", "2.13.0", "witness", "native", "nvcc", "13.0"));
      up(1, H100);
      assertThat(referee.conditions()).containsExactly(new JudgingConditions(H100, VERSIONS));
      assertThat(referee.described())
          .isEqualTo("1 of 0 nodes, 1 candidates at a time, 1 node compiles");
      CompletableFuture<Judgement> judged = judge(referee);
      NodeMessage.Judge first = link.request(1);
      assertThat(first.compiled()).isNull();
      CompletableFuture<Judgement> waiting = judge(referee);
      NodeMessage.Compile compile = (NodeMessage.Compile) link.node(5);
      assertThat(compile.arch()).isEqualTo("sm_90");
      assertThat(compile.candidate().code()).isEqualTo(candidate().code());
      Binaries binaries =
          new Binaries("key", new Ahead(Map.of("triton/a.cubin", "AA=="), Map.of()));
      link.says(5, new NodeMessage.Compiled(compile.id(), binaries));
      link.says(1, new NodeMessage.Judged(first.id(), judgement()));
      NodeMessage.Judge second = link.request(1);
      assertThat(second.compiled()).isEqualTo(binaries);
      link.says(1, new NodeMessage.Judged(second.id(), judgement()));
      assertThat(List.of(judged.get(), waiting.get())).containsOnly(judgement());
    }
  }

  @Test
  void failedCompilationLeavesTheCandidateWaitingForAGpu() throws Exception {
    try (ClusterReferee referee = referee("")) {
      link.says(
          new BridgeMessage.Nodes(
              List.of(new BridgeMessage.Node("node5", "10.0.0.5", 8, 0, 1, 0, true))));
      for (int slot = 5; slot <= 6; slot++) {
        link.says(new BridgeMessage.SlotDown(slot, "node5", "10.0.0.5", "no python3"));
      }
      assertThat(link.order()).isEqualTo(new BridgeMessage.Block("node5"));
      up(1, H100);
      assertThat(referee.first().device()).isEqualTo(H100);
    }
  }

  @Test
  void nodeWithOtherCompilerVersionsIsNotUsed() throws Exception {
    try (ClusterReferee _ = referee("")) {
      up(1, H100);
      compilerUp(5, Map.of("torch", "2.12.0"));
      assertThat(link.order()).isEqualTo(new BridgeMessage.Block("node5"));
      assertThat(notes)
          .containsExactly(
              "node 10.0.0.5 is not used: it compiles with torch 2.12.0, and those that judge have"
                  + " 2.13.0");
    }
  }

  @Test
  void autoscalingClusterGetsRequestsForWorkAndIdleSlotsBack() throws Exception {
    SlotRegister register = register("", true);
    ClusterDispatcher dispatcher = dispatcher(register, OptionalInt.of(2));
    try (ClusterReferee referee = referee(register, dispatcher)) {
      up(1, H100);
      List<CompletableFuture<Judgement>> judged =
          Stream.generate(() -> judge(referee)).limit(4).toList();
      NodeMessage.Judge first = link.request(1);
      link.says(1, new NodeMessage.Judged(first.id(), judgement()));
      link.says(1, new NodeMessage.Judged(link.request(1).id(), judgement()));
      var _ = link.request(1);
      long now = System.nanoTime();
      dispatcher.scale(now);
      assertThat(link.order()).as("one runs, one waits").isEqualTo(new BridgeMessage.Want(2));
      up(2, H100);
      link.says(2, new NodeMessage.Judged(link.request(2).id(), judgement()));
      dispatcher.scale(now);
      assertThat(link.order()).isEqualTo(new BridgeMessage.Want(1));
      dispatcher.scale(now + Duration.ofMinutes(1).toNanos());
      assertThat(link.order()).isEqualTo(new BridgeMessage.Release(2));
      await()
          .atMost(Patience.LIMIT)
          .untilAsserted(() -> assertThat(judged).filteredOn(CompletableFuture::isDone).hasSize(3));
      assertThat(notes).isEmpty();
    }
  }

  @Test
  void nodeThatNeverStartsIsBlockedWithItsReason() throws Exception {
    try (ClusterReferee referee = referee("")) {
      link.says(
          new BridgeMessage.Nodes(
              List.of(
                  new BridgeMessage.Node("head", "10.0.0.9", 0, 0, 0, 0, false),
                  new BridgeMessage.Node("node1", "10.0.0.1", 8, 0, 1, 0, false))));
      for (int slot = 1; slot <= 2; slot++) {
        link.says(new BridgeMessage.SlotDown(slot, "node1", "10.0.0.1", "no python3"));
      }
      assertThat(link.order()).isEqualTo(new BridgeMessage.Block("node1"));
      assertThatThrownBy(referee::first)
          .isInstanceOf(ClusterProblem.class)
          .hasMessage("no node can judge: 10.0.0.1: no python3");
    }
  }

  @Test
  void restartedClusterJudgesPendingCandidates() throws Exception {
    try (ClusterReferee referee = referee("")) {
      CompletableFuture<Judgement> judged = judge(referee);
      for (int restart = 0; restart < 3; restart++) {
        up(1, H100);
        var _ = link.request(1);
        link.ends();
      }
      up(1, H100);
      link.says(1, new NodeMessage.Judged(link.request(1).id(), judgement()));
      assertThat(judged.get()).isEqualTo(judgement());
    }
  }

  @Test
  void unreachableClusterIsRetried() throws Exception {
    try (ClusterReferee referee = referee("")) {
      CompletableFuture<Judgement> judged = underWay(referee);
      link.away = true;
      link.listener.ended("the bridge ended");
      assertThat(link.refused.await(30, TimeUnit.SECONDS)).isTrue();
      link.away = false;
      link.open();
      up(1, H100);
      link.says(1, new NodeMessage.Judged(link.request(1).id(), judgement()));
      assertThat(judged.get()).isEqualTo(judgement());
    }
  }

  @Test
  void closingTheRefereeFailsCandidatesOfALostCluster() throws Exception {
    CompletableFuture<Judgement> judged;
    try (ClusterReferee referee = referee("")) {
      judged = underWay(referee);
      link.away = true;
      link.listener.ended("the bridge ended");
    }
    assertThat(judged)
        .failsWithin(Duration.ofSeconds(30))
        .withThrowableThat()
        .havingRootCause()
        .withMessageContaining("closed");
  }

  @Test
  void clusterLostBeforeJudgingEndsAResumableRun() throws Exception {
    try (ClusterReferee referee = referee("")) {
      CompletableFuture<Judgement> judged = underWay(referee);
      link.ends();
      link.listener.ended("the bridge ended");
      assertThat(judged)
          .failsWithin(Duration.ofSeconds(30))
          .withThrowableThat()
          .havingRootCause()
          .withMessageContaining("--resume");
    }
  }
}

package dev.kbx.cluster;

import static java.util.Objects.requireNonNull;

import dev.kbx.candidate.Candidate;
import dev.kbx.judge.Conditions;
import dev.kbx.judge.JudgingReferee;
import dev.kbx.judge.TaskReferee;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Judges on the nodes of a Ray cluster, each with its own local referee. Nodes that join are used
 * from then on; what a node that is gone had is judged by another. Safe for several threads.
 *
 * <p>All devices that judge are of one model, so that speedups can be compared: that of the first
 * slot, or the one that the user names.
 */
public final class ClusterReferee implements JudgingReferee, AutoCloseable {
  /** Candidates that may be submitted: nodes may join, and slots choose among what waits. */
  private static final int AHEAD = 1024;

  /** Starts of a slot that fail before its node is left alone. */
  private static final int STARTS = 2;

  private static final Duration WATCH = Duration.ofSeconds(1);

  /** After which a slot is given back to a cluster that follows the demand. */
  private static final Duration IDLE = Duration.ofSeconds(30);

  /** For a head to start again; Ray gives up a head that is gone after a minute. */
  private static final Duration RECONNECT = Duration.ofMinutes(3);

  private static final Duration BETWEEN = Duration.ofSeconds(2);

  /** For what an attempt takes besides the candidate's own time: references, baselines, waiting. */
  private static final Duration BESIDES = Duration.ofMinutes(10);

  private final Shipment shipment;
  private final Optional<String> deviceClass;
  private final Demand demand;
  private final Consumer<String> notes;
  private final Assignments assignments = new Assignments();
  private final Map<Integer, Slot> slots = new HashMap<>();
  private final Map<String, Integer> failures = new HashMap<>();
  private final Set<String> blocked = new HashSet<>();
  private final Set<Conditions> kinds = ConcurrentHashMap.newKeySet();
  private final CompletableFuture<Conditions> first = new CompletableFuture<>();
  private final Link.Opener opener;
  private final Thread watch;
  private volatile CompletableFuture<Link> link = new CompletableFuture<>();

  private List<BridgeMessage.Node> nodes = List.of();
  private @Nullable Plan plan;
  private int expected;
  private int wanted = 1;
  private @Nullable String gone;
  private @Nullable Thread reconnecting;
  private boolean working;
  private boolean closing;

  /**
   * A slot, before and after its first message.
   *
   * @param conditions null before
   */
  private record Slot(String node, String address, @Nullable Conditions conditions) {}

  /**
   * How to judge on a cluster.
   *
   * @param address of the cluster as Ray understands it: {@code auto}, {@code ray://HOST:PORT}
   * @param device {@code auto}, {@code cpu} or {@code cuda}
   * @param jobs candidates at the same time on each slot; 0 for as many as its processors allow
   * @param deviceClass part of the name of the devices to judge on
   * @param slots that are asked of the cluster's autoscaler at most; empty to take the cluster as
   *     it is
   * @param node starts a node's kbx; empty for that of the shipped bundle
   */
  public record Settings(
      String address,
      String device,
      int jobs,
      Optional<String> deviceClass,
      OptionalInt slots,
      List<String> node) {}

  /**
   * Connects to a cluster.
   *
   * @param python with the Ray of the cluster
   * @param home kbx's folder
   * @param notes receives lines for the user
   * @throws ClusterProblem if there is no connection
   */
  public static ClusterReferee connect(
      Path python, Path home, Settings settings, Shipment shipment, Consumer<String> notes)
      throws InterruptedException {
    List<String> node =
        settings.node().isEmpty() ? List.of(shipment.launcher(), "node") : settings.node();
    List<String> arguments = new ArrayList<>(List.of("kbx_bridge"));
    arguments.addAll(List.of("--address", settings.address(), "--device", settings.device()));
    arguments.addAll(List.of("--jobs", Integer.toString(settings.jobs())));
    arguments.addAll(List.of("--command", Codec.text(node)));
    if (settings.slots().isPresent()) arguments.addAll(List.of("--wanted", "1"));
    arguments.addAll(shipment.arguments());
    return new ClusterReferee(
        listener -> BridgeProcess.start(python, home, arguments, listener),
        shipment,
        settings.deviceClass(),
        settings.slots(),
        notes);
  }

  ClusterReferee(
      Link.Opener opener,
      Shipment shipment,
      Optional<String> deviceClass,
      OptionalInt slots,
      Consumer<String> notes)
      throws InterruptedException {
    this.shipment = shipment;
    this.deviceClass = deviceClass;
    this.demand = new Demand(slots);
    this.notes = notes;
    this.opener = opener;
    link.complete(opener.open(new Events()));
    this.watch = Thread.ofVirtual().start(this::watch);
  }

  /**
   * The conditions of the first slot, which all others share but for versions; waits for it.
   *
   * @throws ClusterProblem if no node can judge
   */
  public Conditions first() throws InterruptedException {
    try {
      return first.get();
    } catch (ExecutionException e) {
      throw failure(e);
    }
  }

  private static ClusterProblem failure(ExecutionException e) {
    return new ClusterProblem(String.valueOf(requireNonNull(e.getCause()).getMessage()), e);
  }

  /**
   * A node as far as it is known.
   *
   * @param slots that judge there, or will
   * @param judging conditions of those that do now
   * @param used false if it is left alone: notes said why
   */
  public record Site(
      String address, int cpus, int gpus, int slots, List<Conditions> judging, boolean used) {
    public Site {
      judging = List.copyOf(judging);
    }

    /** Whether nothing more is to come. */
    public boolean complete() {
      return !used || judging.size() == slots;
    }
  }

  /** All living nodes. */
  public synchronized List<Site> sites() {
    return nodes.stream().map(this::site).toList();
  }

  private Site site(BridgeMessage.Node node) {
    List<Conditions> judging =
        slots.values().stream()
            .filter(slot -> slot.node().equals(node.id()))
            .map(Slot::conditions)
            .filter(Objects::nonNull)
            .toList();
    boolean used = !blocked.contains(node.id());
    return new Site(node.address(), node.cpus(), node.gpus(), node.slots(), judging, used);
  }

  /** The cluster in a few words: {@code 3 nodes, 24 slots}. */
  public synchronized String described() {
    long judging =
        slots.values().stream()
            .filter(s -> s.conditions() != null)
            .map(Slot::node)
            .distinct()
            .count();
    return "%d of %d nodes, %d candidates at a time"
        .formatted(judging, nodes.size(), assignments.capacity());
  }

  @Override
  public synchronized int capacity() {
    return Math.max(AHEAD, 2 * assignments.capacity());
  }

  @Override
  public void expect(Plan plan, int candidates) {
    List<Integer> ready;
    synchronized (this) {
      this.plan = plan;
      expected += Math.max(0, candidates);
      ready = slots.keySet().stream().filter(slot -> isReady(slot)).toList();
    }
    ready.forEach(this::sendExpected);
  }

  private synchronized boolean isReady(int slot) {
    Slot there = slots.get(slot);
    return there != null && there.conditions() != null;
  }

  private void sendExpected(int slot) {
    NodeMessage.Expect message;
    synchronized (this) {
      Plan known = plan;
      if (known == null || expected == 0) return;
      message = new NodeMessage.Expect(known, expected);
    }
    send(slot, Codec.bytes(message));
  }

  @Override
  public synchronized void settled() {
    if (expected > 0) expected--;
  }

  @Override
  public synchronized List<Conditions> conditions() {
    return slots.values().stream()
        .map(Slot::conditions)
        .filter(Objects::nonNull)
        .distinct()
        .toList();
  }

  /** Of all slots that there ever were: what one of them judged may be asked for again. */
  @Override
  public Set<Conditions> kinds() {
    return kinds;
  }

  /** Which card of the model judges is chance here. */
  @Override
  public boolean accepts(Verdict.Device card) {
    return true;
  }

  @Override
  public Judgement judge(Candidate candidate, Plan plan) throws InterruptedException {
    NodeMessage.SentCandidate sent =
        new NodeMessage.SentCandidate(
            shipment.sent(candidate.task()),
            candidate.code(),
            candidate.origin(),
            candidate.sample(),
            candidate.method(),
            candidate.model(),
            candidate.round(),
            candidate.conditions());
    Job job =
        new Job(
            candidate.task().path(),
            limit(plan.limits()),
            id -> new NodeMessage.Judge(id, sent, plan));
    try {
      NodeMessage.Answer answer = ask(job);
      settled();
      if (answer instanceof NodeMessage.Judged judged) return judged.judgement();
      throw new ClusterProblem("a node answered something else than a judgement");
    } catch (Abandoned e) {
      return first().givenUp(candidate, plan, String.valueOf(e.getMessage()));
    }
  }

  /** Examines tasks on the nodes, by this plan. */
  public TaskReferee tasks(Plan plan) throws InterruptedException {
    return new ClusterTasks(this, plan, first().onAnyCard());
  }

  TaskVerdict examine(Task task, Plan plan, boolean controls) throws InterruptedException {
    SentTask sent = shipment.sent(task);
    Job job =
        new Job(
            task.path(),
            limit(plan.limits()),
            id -> new NodeMessage.Examine(id, sent, plan, controls));
    try {
      if (ask(job) instanceof NodeMessage.Examined examined) return examined.verdict();
      throw new ClusterProblem("a node answered something else than a task's verdict");
    } catch (Abandoned e) {
      throw new ClusterProblem(task.path() + ": " + e.getMessage(), e);
    }
  }

  /** Ample: an attempt that takes longer has a frozen process. */
  private static Duration limit(Limits limits) {
    Duration own =
        limits.load().plus(limits.call()).plus(limits.correctness()).plus(limits.device());
    return own.multipliedBy(4).plus(BESIDES);
  }

  private NodeMessage.Answer ask(Job job) throws InterruptedException, Abandoned {
    synchronized (this) {
      if (gone != null) throw new ClusterProblem(gone);
      assignments.add(job);
    }
    assign();
    try {
      return job.answer().get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Abandoned abandoned) throw abandoned;
      throw failure(e);
    } catch (InterruptedException e) {
      synchronized (this) {
        assignments.cancel(job);
      }
      throw e;
    }
  }

  private void assign() {
    List<Assignments.Attempt> started;
    synchronized (this) {
      started = assignments.assign(System.nanoTime());
    }
    for (Assignments.Attempt attempt : started) {
      send(attempt.slot(), Codec.bytes(attempt.job().request(attempt.id())));
    }
  }

  private void send(int channel, byte[] payload) {
    try {
      link.join().send(channel, payload);
    } catch (IOException e) {
      // The bridge has ended; Events.ended follows.
    }
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(WATCH);
        List<Integer> overdue;
        synchronized (this) {
          overdue = assignments.overdue(System.nanoTime());
        }
        for (int slot : overdue) drop(slot, "took longer than any candidate may");
        if (demand.counts()) scale(System.nanoTime());
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  /** Tells the bridge how many slots have work, and gives back those that have had none. */
  void scale(long now) {
    List<BridgeMessage> orders = new ArrayList<>();
    synchronized (this) {
      int slots = demand.slots(!kinds.isEmpty(), assignments);
      if (slots != wanted) orders.add(new BridgeMessage.Want(slots));
      wanted = slots;
      for (int slot : assignments.idle(now, IDLE)) {
        this.slots.remove(slot);
        assignments.down(slot, "idle");
        orders.add(new BridgeMessage.Release(slot));
      }
    }
    for (BridgeMessage order : orders) send(0, Codec.bytes(order));
  }

  private void drop(int slot, String how) {
    synchronized (this) {
      Slot there = slots.remove(slot);
      if (there == null) return;
      assignments.down(slot, there.address() + " " + how);
      notes.accept("node %s %s; another starts in its place".formatted(there.address(), how));
    }
    send(0, Codec.bytes(new BridgeMessage.Drop(slot)));
    assign();
  }

  @Override
  public void close() {
    synchronized (this) {
      closing = true;
      if (reconnecting != null) reconnecting.interrupt();
    }
    watch.interrupt();
    link.join().close();
  }

  private final class Events implements Link.Listener {
    @Override
    public void frame(int channel, byte[] payload) {
      if (channel == 0) ofBridge(Codec.ofBridge(payload));
      else ofNode(channel, Codec.ofNode(payload));
    }

    @Override
    public void ended(String why) {
      ClusterReferee.this.ended(why);
    }
  }

  /** Begins anew if the cluster had judged since the last time; else all is over. */
  private void ended(String why) {
    synchronized (this) {
      if (closing || !working) {
        over(why);
        return;
      }
      working = false;
      slots.clear();
      blocked.clear();
      failures.clear();
      nodes = List.of();
      wanted = 1;
      assignments.restart();
      CompletableFuture<Link> lost = link;
      link = new CompletableFuture<>();
      notes.accept(
          "the cluster is lost; connecting again for %d minutes".formatted(RECONNECT.toMinutes()));
      reconnecting = Thread.ofVirtual().start(() -> reconnect(lost.join(), why));
    }
  }

  private void reconnect(Link lost, String why) {
    long end = System.nanoTime() + RECONNECT.toNanos();
    lost.close();
    while (true) {
      try {
        link.complete(opener.open(new Events()));
        notes.accept("connected to the cluster again");
        return;
      } catch (ClusterProblem | InterruptedException e) {
        if (e instanceof InterruptedException || System.nanoTime() > end || !pause()) {
          link.complete(lost);
          over(why);
          return;
        }
      }
    }
  }

  /** Whether nobody interrupted it. */
  private static boolean pause() {
    try {
      Thread.sleep(BETWEEN);
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }

  private synchronized void over(String why) {
    gone =
        closing
            ? "the connection to the cluster is closed"
            : why + "; the same command with --resume goes on once the cluster is back";
    ClusterProblem failure = new ClusterProblem(gone);
    first.completeExceptionally(failure);
    assignments.drain().forEach(job -> job.answer().completeExceptionally(failure));
  }

  private void ofBridge(BridgeMessage message) {
    switch (message) {
      case BridgeMessage.Nodes(var found) -> nodes(found);
      case BridgeMessage.SlotUp(var slot, var node, var address) -> {
        synchronized (this) {
          slots.put(slot, new Slot(node, address, null));
        }
      }
      case BridgeMessage.SlotDown down -> down(down);
      case BridgeMessage.Want _,
          BridgeMessage.Drop _,
          BridgeMessage.Release _,
          BridgeMessage.Block _ -> {}
    }
  }

  private synchronized void nodes(List<BridgeMessage.Node> found) {
    nodes = found;
    if (!first.isDone() && found.stream().allMatch(node -> node.slots() == 0)) {
      notes.accept(
          "none of the cluster's %d nodes has what --device asks for; waiting for one that has%s"
              .formatted(
                  found.size(),
                  demand.counts()
                      ? ", which its autoscaler is asked for"
                      : "; --cluster-slots N asks its autoscaler"));
    }
  }

  private void down(BridgeMessage.SlotDown down) {
    boolean block = false;
    synchronized (this) {
      Slot there = slots.remove(down.slot());
      assignments.down(down.slot(), "%s: %s".formatted(down.address(), down.why()));
      if (blocked.contains(down.node())) return;
      boolean judged = there != null && there.conditions() != null;
      if (!judged) block = failures.merge(down.node(), 1, Integer::sum) >= STARTS;
      if (!closing) {
        notes.accept("node %s: %s".formatted(down.address(), down.why()));
      }
      if (block) blocked.add(down.node());
      if (nodes.stream().allMatch(node -> node.slots() == 0 || blocked.contains(node.id()))) {
        first.completeExceptionally(
            new ClusterProblem("no node can judge: %s: %s".formatted(down.address(), down.why())));
      }
    }
    if (block) send(0, Codec.bytes(new BridgeMessage.Block(down.node())));
    assign();
  }

  private void ofNode(int slot, NodeMessage message) {
    switch (message) {
      case NodeMessage.Ready ready -> ready(slot, ready);
      case NodeMessage.Failed failed when failed.useless() -> drop(slot, failed.message());
      case NodeMessage.Failed failed -> {
        synchronized (this) {
          assignments.failed(failed.id(), failed.message());
        }
        assign();
      }
      case NodeMessage.Answer answer -> {
        Optional<Job> job;
        synchronized (this) {
          job = assignments.answered(answer.id());
        }
        assign();
        job.ifPresent(one -> one.answer().complete(answer));
      }
      case NodeMessage.Expect _, NodeMessage.Request _ -> {}
    }
  }

  private void ready(int slot, NodeMessage.Ready ready) {
    Optional<String> refused;
    String node;
    synchronized (this) {
      Slot there = slots.get(slot);
      if (there == null) return;
      node = there.node();
      refused = refused(ready.device());
      if (refused.isEmpty()) {
        Conditions conditions = new Conditions(ready.device(), ready.versions());
        slots.put(slot, new Slot(node, there.address(), conditions));
        kinds.add(conditions.onAnyCard());
        working = true;
        assignments.up(slot, ready.capacity());
        first.complete(conditions);
      } else if (blocked.add(node)) {
        notes.accept("node %s is not used: %s".formatted(there.address(), refused.get()));
      }
    }
    if (refused.isPresent()) {
      send(0, Codec.bytes(new BridgeMessage.Block(node)));
      return;
    }
    sendExpected(slot);
    assign();
  }

  /** Why a device may not judge here. */
  private Optional<String> refused(Verdict.Device device) {
    String name = device.name();
    if (deviceClass.isPresent()
        && !name.toLowerCase(Locale.ROOT).contains(deviceClass.get().toLowerCase(Locale.ROOT))) {
      return Optional.of("it has %s, not %s".formatted(name, deviceClass.get()));
    }
    Conditions other = first.isDone() && !first.isCompletedExceptionally() ? first.join() : null;
    if (other == null) return Optional.empty();
    Verdict.Device same = other.device();
    boolean mixed =
        !same.kind().equals(device.kind())
            || (!device.kind().equals("cpu") && !same.name().equals(name));
    return mixed
        ? Optional.of(
            "it has %s, and speedups on that and on %s cannot be compared; --device-class chooses"
                .formatted(name, same.name()))
        : Optional.empty();
  }
}

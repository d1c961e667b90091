package dev.kbx.cluster;

import dev.kbx.plan.Plan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends jobs to the slots of a cluster and takes what comes back: acts on each message of bridge
 * and nodes, and looks every second for slots that are frozen or idle. {@link Assignments} decides
 * which job is where, {@link SlotRegister} which slots judge.
 *
 * <p>Safe for several threads: its monitor guards {@link Assignments} and all that changes here,
 * and each change of the {@link SlotRegister}, so that jobs and slots change in one step. Under it
 * the monitors of the register and of the {@link Connection} may be taken, never the other way
 * round. Messages are sent without it, for that may have to wait.
 */
final class ClusterDispatcher implements AutoCloseable {
  private static final Duration WATCH = Duration.ofSeconds(1);

  /** After which a slot is given back to a cluster that follows the demand. */
  private static final Duration IDLE = Duration.ofSeconds(30);

  private final SlotRegister register;

  /** Slots that the user allows; empty if the cluster is taken as it is. */
  private final OptionalInt mostSlots;

  private final Consumer<String> notes;
  private final Assignments assignments = new Assignments();
  private final Connection connection;
  private final Thread watch;

  private @Nullable Plan plan;
  private int expected;
  private int wanted = 1;

  /** Jobs that a slot can have at a time, as far as is known. */
  private int perSlot = 1;

  /** Why all is over; null before. */
  private @Nullable String gone;

  /** Whether a slot has been up since the last link was opened. */
  private boolean working;

  /** What slots that compile have said before it was known for which GPUs. */
  private final Map<Integer, NodeMessage.Ready> early = new LinkedHashMap<>();

  /**
   * Connects to a cluster.
   *
   * @param register of the cluster, which nobody else changes
   * @param mostSlots that may be asked of the cluster; empty to take it as it is
   * @param notes receives lines for the user
   * @throws ClusterProblem if there is no connection
   */
  ClusterDispatcher(
      Link.Opener opener, SlotRegister register, OptionalInt mostSlots, Consumer<String> notes)
      throws InterruptedException {
    this.register = register;
    this.mostSlots = mostSlots;
    this.notes = notes;
    this.connection = new Connection(opener, new Events(), notes);
    connection.open();
    this.watch = Thread.ofVirtual().start(this::watch);
  }

  private final class Events implements Link.Listener {
    @Override
    public void frame(int channel, byte[] payload) {
      if (channel == 0) ofBridge(Codec.ofBridge(payload));
      else ofNode(channel, Codec.ofNode(payload));
    }

    @Override
    public void ended(String why) {
      lost(why);
    }
  }

  /** The cluster in a few words: {@code 2 of 3 nodes, 24 candidates at a time, 1 node compiles}. */
  synchronized String described() {
    int compiling = register.compiling();
    return "%s, %d candidates at a time%s"
        .formatted(
            register.described(),
            assignments.capacity(),
            switch (compiling) {
              case 0 -> "";
              case 1 -> ", 1 node compiles";
              default -> ", %d nodes compile".formatted(compiling);
            });
  }

  /** Jobs that all slots that judge can have at a time. */
  synchronized int capacity() {
    return assignments.capacity();
  }

  /** Tells all slots, now and once they are up, that so many candidates more are to come. */
  void expect(Plan plan, int candidates) {
    List<Integer> up;
    synchronized (this) {
      this.plan = plan;
      expected += Math.max(0, candidates);
      up = register.up();
    }
    up.forEach(this::sendExpected);
  }

  private void sendExpected(int slot) {
    NodeMessage.Expect message;
    synchronized (this) {
      Plan known = plan;
      if (known == null || expected == 0) return;
      message = new NodeMessage.Expect(known, expected);
    }
    connection.send(slot, Codec.bytes(message));
  }

  /** One of the expected candidates is judged, or needs no judging. */
  synchronized void settled() {
    if (expected > 0) expected--;
  }

  /**
   * Waits for a slot's answer.
   *
   * @throws Job.Abandoned if the job's attempts were lost
   * @throws ClusterProblem if all is over
   */
  NodeMessage.Answer ask(Job job) throws InterruptedException, Job.Abandoned {
    synchronized (this) {
      if (gone != null) throw new ClusterProblem(gone);
      assignments.add(job);
    }
    assign();
    try {
      return job.answer().get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Job.Abandoned abandoned) throw abandoned;
      throw ClusterProblem.of(e);
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
      connection.send(attempt.slot(), Codec.bytes(attempt.message().get()));
    }
  }

  private void order(BridgeMessage message) {
    connection.send(0, Codec.bytes(message));
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
        if (mostSlots.isPresent()) scale(System.nanoTime());
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  /**
   * Tells the bridge how many slots have work, and gives back those that have had none.
   *
   * @param now in nanoseconds
   */
  void scale(long now) {
    List<BridgeMessage> orders = new ArrayList<>();
    synchronized (this) {
      int slots = slotsWithWork();
      if (slots != wanted) orders.add(new BridgeMessage.Want(slots));
      wanted = slots;
      for (int slot : assignments.idle(now, IDLE)) {
        register.remove(slot);
        assignments.down(slot, "idle");
        orders.add(new BridgeMessage.Release(slot));
      }
    }
    orders.forEach(this::order);
  }

  /**
   * The number of slots on which all open jobs would be judged at once; one as long as none has
   * ever been up, for the command waits for it.
   */
  private int slotsWithWork() {
    if (register.kinds().isEmpty()) return 1;
    int slots = assignments.slots();
    if (slots > 0) perSlot = Math.max(1, assignments.capacity() / slots);
    return Math.min(mostSlots.orElseThrow(), Math.ceilDiv(assignments.open(), perSlot));
  }

  private void drop(int slot, String how) {
    synchronized (this) {
      SlotRegister.Slot there = register.remove(slot);
      if (there == null) return;
      assignments.down(slot, there.address() + " " + how);
      notes.accept("node %s %s; another starts in its place".formatted(there.address(), how));
    }
    order(new BridgeMessage.Drop(slot));
    assign();
  }

  private void ofBridge(BridgeMessage message) {
    switch (message) {
      case BridgeMessage.Nodes(var found) -> {
        synchronized (this) {
          register.nodes(found);
        }
      }
      case BridgeMessage.SlotUp up -> {
        synchronized (this) {
          register.started(up);
        }
      }
      case BridgeMessage.SlotDown down -> down(down);
      case BridgeMessage.Want _,
          BridgeMessage.Drop _,
          BridgeMessage.Release _,
          BridgeMessage.Block _ -> {}
    }
  }

  private void down(BridgeMessage.SlotDown down) {
    boolean block;
    synchronized (this) {
      SlotRegister.Slot there = register.remove(down.slot());
      assignments.down(down.slot(), "%s: %s".formatted(down.address(), down.why()));
      block =
          !register.isBlocked(down.node()) && register.ended(there, down, connection.isClosing());
    }
    if (block) order(new BridgeMessage.Block(down.node()));
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
      case NodeMessage.Compiled(var id, var binaries) -> {
        synchronized (this) {
          assignments.compiled(id, binaries);
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
    SlotRegister.Slot there;
    boolean up;
    Map<Integer, NodeMessage.Ready> waited = Map.of();
    synchronized (this) {
      there = register.slot(slot);
      if (there == null) return;
      if (there.compiles() && !register.hasFirst()) {
        early.put(slot, ready);
        return;
      }
      up = register.admit(slot, there, ready);
      if (up && there.compiles()) {
        assignments.compiles(slot, ready.capacity());
      } else if (up) {
        working = true;
        assignments.up(slot, ready.capacity());
        waited = new LinkedHashMap<>(early);
        early.clear();
      }
    }
    if (!up) {
      order(new BridgeMessage.Block(there.node()));
      return;
    }
    if (!there.compiles()) sendExpected(slot);
    assign();
    waited.forEach(this::ready);
  }

  /** Begins anew if the cluster had judged since the last time; else all is over. */
  private synchronized void lost(String why) {
    if (!working || !connection.reopen(() -> over(why))) {
      over(why);
      return;
    }
    working = false;
    register.clear();
    early.clear();
    wanted = 1;
    assignments.restart();
  }

  private synchronized void over(String why) {
    gone =
        connection.isClosing()
            ? "the connection to the cluster is closed"
            : why + "; the same command with --resume goes on once the cluster is back";
    ClusterProblem failure = new ClusterProblem(gone);
    register.fail(failure);
    assignments.drain().forEach(job -> job.answer().completeExceptionally(failure));
  }

  @Override
  public void close() {
    watch.interrupt();
    connection.close();
  }
}

package dev.kbx.cluster;

import static java.util.Objects.requireNonNull;

import dev.kbx.judge.BinaryCache;
import dev.kbx.judge.JudgingConditions;
import dev.kbx.verdict.Verdict;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of a cluster and their slots: which are up, with what devices, and which nodes are left
 * alone and why. Tells the user what it decides about a node; tells the bridge nothing.
 *
 * <p>Safe for several threads: its monitor guards all that changes, but for {@link #first} and
 * {@link #kinds}, which guard themselves. Only {@link ClusterDispatcher} changes it, and holds its
 * own monitor meanwhile, so that several calls are one step to all others that change it. Nothing
 * that is called from here takes another lock of this package.
 */
final class SlotRegister {
  /** Starts of a slot that fail before its node is left alone. */
  private static final int STARTS = 2;

  private final Optional<String> deviceClass;
  private final boolean scales;
  private final Consumer<String> notes;
  private final Map<Integer, Slot> slots = new HashMap<>();
  private final Map<String, Integer> failures = new HashMap<>();
  private final Set<String> blocked = new HashSet<>();
  private final Set<JudgingConditions> kinds = ConcurrentHashMap.newKeySet();
  private final CompletableFuture<JudgingConditions> first = new CompletableFuture<>();
  private List<BridgeMessage.Node> nodes = List.of();

  /**
   * A slot, before and after its first message.
   *
   * @param compiles whether it only compiles
   * @param conditions null before
   */
  record Slot(
      String node, String address, boolean compiles, @Nullable JudgingConditions conditions) {
    boolean judges() {
      return conditions != null && !compiles;
    }
  }

  /**
   * @param deviceClass part of the name of the devices to judge on
   * @param scales whether the cluster's autoscaler is asked for slots
   * @param notes receives lines for the user
   */
  SlotRegister(Optional<String> deviceClass, boolean scales, Consumer<String> notes) {
    this.deviceClass = deviceClass;
    this.scales = scales;
    this.notes = notes;
  }

  /**
   * The conditions of the first slot that was ever up; waits for it.
   *
   * @throws ClusterProblem if no node can judge
   */
  JudgingConditions first() throws InterruptedException {
    try {
      return first.get();
    } catch (ExecutionException e) {
      throw ClusterProblem.of(e);
    }
  }

  /** Ends the wait for a first slot, if none has been up. */
  void fail(ClusterProblem problem) {
    first.completeExceptionally(problem);
  }

  /** JudgingConditions, but for the GPU, of all slots that were ever up; grows with them. */
  Set<JudgingConditions> kinds() {
    return kinds;
  }

  /** JudgingConditions of the slots that judge, each once. */
  synchronized List<JudgingConditions> conditions() {
    return slots.values().stream()
        .filter(Slot::judges)
        .map(Slot::conditions)
        .filter(Objects::nonNull)
        .distinct()
        .toList();
  }

  /** Numbers of the slots that judge. */
  synchronized List<Integer> up() {
    return slots.entrySet().stream()
        .filter(each -> each.getValue().judges())
        .map(Map.Entry::getKey)
        .toList();
  }

  /** All living nodes. */
  synchronized List<ClusterReferee.Node> nodes() {
    return nodes.stream().map(this::node).toList();
  }

  private ClusterReferee.Node node(BridgeMessage.Node node) {
    List<JudgingConditions> up =
        slots.values().stream()
            .filter(slot -> slot.node().equals(node.id()))
            .map(Slot::conditions)
            .filter(Objects::nonNull)
            .toList();
    boolean used = !blocked.contains(node.id());
    return new ClusterReferee.Node(
        node.address(), node.cpus(), node.gpus(), node.slots(), node.compiles(), up, used);
  }

  /** How many nodes judge, in words: {@code 2 of 3 nodes}. */
  synchronized String described() {
    return "%d of %d nodes".formatted(nodesWith(Slot::judges), nodes.size());
  }

  /** How many nodes compile for those that judge. */
  synchronized int compiling() {
    return nodesWith(slot -> slot.compiles() && slot.conditions() != null);
  }

  private int nodesWith(Predicate<Slot> property) {
    return (int) slots.values().stream().filter(property).map(Slot::node).distinct().count();
  }

  /** Takes note of all living nodes. */
  synchronized void nodes(List<BridgeMessage.Node> found) {
    nodes = found;
    if (!first.isDone() && found.stream().noneMatch(BridgeMessage.Node::judges)) {
      notes.accept(
          "none of the cluster's %d nodes has what --device asks for; waiting for one that has%s"
              .formatted(
                  found.size(),
                  scales
                      ? ", which its autoscaler is asked for"
                      : "; --cluster-slots N asks its autoscaler"));
    }
  }

  /** A slot's kbx has been started; it is up once it is admitted. */
  synchronized void started(BridgeMessage.SlotUp slot) {
    slots.put(slot.slot(), new Slot(slot.node(), slot.address(), slot.compiles(), null));
  }

  /** A slot that was started and has not been removed; else null. */
  synchronized @Nullable Slot slot(int number) {
    return slots.get(number);
  }

  /**
   * A slot has said what it has. If it may judge with that, it is up; else its node is left alone.
   *
   * @return whether it is up
   */
  synchronized boolean admit(int number, Slot slot, NodeMessage.Ready ready) {
    Optional<String> refused = slot.compiles() ? unfit(ready) : refused(ready.device());
    if (refused.isEmpty()) {
      JudgingConditions conditions = new JudgingConditions(ready.device(), ready.versions());
      slots.put(number, new Slot(slot.node(), slot.address(), slot.compiles(), conditions));
      if (slot.compiles()) return true;
      kinds.add(conditions.onAnyCard());
      first.complete(conditions);
    } else if (blocked.add(slot.node())) {
      notes.accept("node %s is not used: %s".formatted(slot.address(), refused.get()));
    }
    return refused.isEmpty();
  }

  /** JudgingConditions of the first slot that was ever up; null before. */
  private @Nullable JudgingConditions firstUp() {
    return first.isDone() && !first.isCompletedExceptionally() ? first.join() : null;
  }

  /** Whether a slot may judge, so that it is known what is to be compiled. */
  boolean hasFirst() {
    return firstUp() != null;
  }

  /** Architecture of the devices that judge. */
  String arch() {
    return requireNonNull(requireNonNull(firstUp()).device().arch());
  }

  /** Why what a node compiles is of no use to those that judge. */
  private Optional<String> unfit(NodeMessage.Ready ready) {
    JudgingConditions judging = requireNonNull(firstUp());
    if (judging.device().onCpu()) {
      return Optional.of("it could only compile, and those that judge have no GPU");
    }
    Map<String, String> wanted = BinaryCache.toolchain(judging.versions(), false);
    Map<String, String> found = BinaryCache.toolchain(ready.versions(), false);
    return Stream.of(wanted, found)
        .flatMap(each -> each.keySet().stream())
        .sorted()
        .filter(name -> !Objects.equals(wanted.get(name), found.get(name)))
        .findFirst()
        .map(name ->
            "it compiles with %s %s, and those that judge have %s"
                .formatted(
                    name, found.getOrDefault(name, "missing"), wanted.getOrDefault(name, "none")));
  }

  /** Why a device may not judge here. */
  private Optional<String> refused(Verdict.Device device) {
    String name = device.name();
    if (deviceClass.isPresent()
        && !name.toLowerCase(Locale.ROOT).contains(deviceClass.get().toLowerCase(Locale.ROOT))) {
      return Optional.of("it has %s, not %s".formatted(name, deviceClass.get()));
    }
    JudgingConditions other = firstUp();
    if (other == null) return Optional.empty();
    Verdict.Device same = other.device();
    boolean mixed =
        !same.kind().equals(device.kind()) || (!device.onCpu() && !same.name().equals(name));
    return mixed
        ? Optional.of(
            "it has %s, and speedups on that and on %s cannot be compared; --device-class chooses"
                .formatted(name, same.name()))
        : Optional.empty();
  }

  /** Forgets a slot; null if it was not known. */
  synchronized @Nullable Slot remove(int number) {
    return slots.remove(number);
  }

  /** Whether a node is left alone. */
  synchronized boolean isBlocked(String node) {
    return blocked.contains(node);
  }

  /**
   * A slot has ended by itself, on a node that is not left alone yet.
   *
   * @param slot as it was removed; null if it never started
   * @param quiet whether the user is told nothing of it
   * @return whether the node is left alone from now on
   */
  synchronized boolean ended(@Nullable Slot slot, BridgeMessage.SlotDown down, boolean quiet) {
    boolean worked = slot != null && slot.conditions() != null;
    boolean block = !worked && failures.merge(down.node(), 1, Integer::sum) >= STARTS;
    if (!quiet) notes.accept("node %s: %s".formatted(down.address(), down.why()));
    if (block) blocked.add(down.node());
    List<BridgeMessage.Node> judging = nodes.stream().filter(BridgeMessage.Node::judges).toList();
    if (!judging.isEmpty() && judging.stream().allMatch(node -> blocked.contains(node.id()))) {
      fail(new ClusterProblem("no node can judge: %s: %s".formatted(down.address(), down.why())));
    }
    return block;
  }

  /** Forgets all nodes and slots, for a cluster that begins anew; not which devices may judge. */
  synchronized void clear() {
    slots.clear();
    blocked.clear();
    failures.clear();
    nodes = List.of();
  }
}

package dev.kbx.judge;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.Patience;
import dev.kbx.judge.WorkQueue.Count;
import dev.kbx.judge.WorkQueue.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing is lost, nothing is leased twice at once, and the order is kept. */
@Timeout(Patience.SECONDS)
class WorkQueueTest {
  private static final Duration NO_TIME = Duration.ZERO;
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final int MANY = 1_000;

  private final WorkQueue<Item> queue = new WorkQueue<>();

  private static final class Item extends WorkQueue.Piece {
    private final String name;
    private final String owner;
    private final int priority;

    Item(String name, String owner, int priority) {
      this.name = name;
      this.owner = owner;
      this.priority = priority;
    }

    @Override
    protected int priority() {
      return priority;
    }

    @Override
    protected String owner() {
      return owner;
    }

    @Override
    protected String group() {
      return name.substring(0, 1);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private Item submit(String name, String owner, int priority) {
    Item item = new Item(name, owner, priority);
    queue.submit(item);
    return item;
  }

  private Item submit(String name) {
    return submit(name, "", 0);
  }

  private @Nullable Lease<Item> poll() throws InterruptedException {
    return queue.lease(0, MANY, NO_TIME);
  }

  private Lease<Item> next() throws InterruptedException {
    return requireNonNull(poll());
  }

  private List<String> rest() throws InterruptedException {
    List<String> names = new ArrayList<>();
    for (Lease<Item> lease = poll(); lease != null; lease = poll()) names.add(lease.piece().name);
    return names;
  }

  @Test
  void priorityGoesFirstThenOwnersTakeTurnsThenAge() throws Exception {
    submit("a1", "a", 0);
    submit("a2", "a", 0);
    submit("a3", "a", 0);
    submit("b1", "b", 0);
    submit("b2", "b", 0);
    submit("a4", "a", 7);
    Item last = submit("c1", "c", -1);
    assertThat(queue.ahead(last)).isEqualTo(6);
    assertThat(queue.heads()).extracting(item -> item.name).containsExactly("a4", "a1", "b1", "c1");
    assertThat(rest()).containsExactly("a4", "a1", "b1", "a2", "b2", "a3", "c1");
  }

  @Test
  void returnedPieceIsTheNextOfItsOwner() throws Exception {
    submit("a1", "a", 0);
    submit("a2", "a", 0);
    submit("b1", "b", 0);
    assertThat(queue.putBack(next())).isTrue();
    assertThat(rest()).containsExactly("b1", "a1", "a2");
  }

  @Test
  void leaseEndsOnce() throws Exception {
    submit("a");
    Lease<Item> lost = next();
    assertThat(queue.putBack(lost)).isTrue();
    assertThat(queue.putBack(lost)).as("waits once").isFalse();
    assertThat(queue.end(lost)).as("a late answer").isFalse();
    Lease<Item> again = next();
    assertThat(queue.end(lost)).as("a late answer beside another lease").isFalse();
    assertThat(queue.lease(again.id())).contains(again);
    assertThat(queue.end(again)).isTrue();
    assertThat(queue.end(again)).isFalse();
    assertThat(queue.count()).isEqualTo(Count.NONE);
  }

  @Test
  void pieceIsQueuedOnce() throws Exception {
    Item item = submit("a");
    assertThatThrownBy(() -> queue.submit(item)).isInstanceOf(IllegalStateException.class);
    Lease<Item> lease = next();
    assertThatThrownBy(() -> queue.submit(item)).isInstanceOf(IllegalStateException.class);
    queue.end(lease);
    queue.submit(item);
    assertThat(rest()).containsExactly("a");
  }

  @Test
  void withdrawnPieceIsLeasedOnlyAfterResubmission() throws Exception {
    Item first = submit("a");
    Item second = submit("b");
    submit("c");
    assertThat(queue.withdraw(second)).isTrue();
    assertThat(queue.withdraw(second)).isFalse();
    assertThat(queue.withdrawAll(item -> item == first)).containsExactly(first);
    queue.submitAgain(second);
    Lease<Item> lease = next();
    assertThat(lease.piece()).isSameAs(second);
    assertThat(queue.withdraw(second)).as("is leased").isFalse();
    assertThat(rest()).containsExactly("c");
  }

  @Test
  void holderLeasesOnlySuitablePieces() {
    submit("a1");
    submit("b1");
    submit("b2");
    Function<Stream<Item>, Optional<Item>> choice =
        waiting -> waiting.filter(item -> item.group().equals("b")).findFirst();
    Lease<Item> first = requireNonNull(queue.lease(7, 1, choice));
    Lease<Item> second = requireNonNull(queue.lease(8, 2, choice));
    assertThat(List.of(first.piece().name, second.piece().name)).containsExactly("b1", "b2");
    assertThat(queue.lease(7, 3, choice)).isNull();
    assertThat(queue.leases(7)).containsExactly(first);
    assertThat(queue.held(8)).isEqualTo(1);
    assertThat(queue.leases()).containsExactly(first, second);
    queue.putBack(first);
    assertThat(queue.held(7)).isZero();
  }

  @Test
  void ownersAndGroupsAreCounted() throws Exception {
    submit("x1", "a", 0);
    submit("y1", "a", 1);
    submit("x2", "b", 0);
    Lease<Item> lease = next();
    assertThat(queue.byOwner()).isEqualTo(Map.of("a", new Count(1, 1), "b", new Count(1, 0)));
    assertThat(queue.ofOwner("a").open()).isEqualTo(2);
    assertThat(queue.ofGroup("x")).isEqualTo(new Count(2, 0));
    assertThat(queue.ofGroup("y")).isEqualTo(new Count(0, 1));
    queue.end(lease);
    assertThat(queue.ofGroup("y")).isEqualTo(Count.NONE);
    assertThat(queue.count()).isEqualTo(new Count(2, 0));
  }

  /** A thread that takes one lease, as soon as it may. */
  private CountDownLatch taking(int most, List<Lease<Item>> taken) {
    CountDownLatch done = new CountDownLatch(1);
    Thread.startVirtualThread(() -> {
      try {
        Lease<Item> lease = queue.lease(0, most, LONG);
        if (lease != null) taken.add(lease);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      done.countDown();
    });
    return done;
  }

  private static boolean isOver(CountDownLatch done) throws InterruptedException {
    return done.await(30, TimeUnit.MILLISECONDS);
  }

  @Test
  void leaseWaitsForWorkAndForTheEndOfAPause() throws Exception {
    List<Lease<Item>> taken = new ArrayList<>();
    queue.pause(this, true);
    CountDownLatch first = taking(1, taken);
    assertThat(isOver(first)).as("no work").isFalse();
    submit("a");
    assertThat(isOver(first)).as("paused").isFalse();
    queue.pause(this, false);
    first.await();
    submit("b");
    CountDownLatch second = taking(1, taken);
    assertThat(isOver(second)).as("one at a time").isFalse();
    queue.end(taken.getFirst());
    second.await();
    CountDownLatch third = taking(MANY, taken);
    assertThat(isOver(third)).as("no more work").isFalse();
    submit("c");
    third.await();
    CountDownLatch fourth = taking(MANY, taken);
    assertThat(isOver(fourth)).as("no more work").isFalse();
    queue.putBack(taken.getLast());
    fourth.await();
    assertThat(taken).extracting(lease -> lease.piece().name).containsExactly("a", "b", "c", "c");
  }

  @Test
  void closeReleasesWaitersAndKeepsOpenLeases() throws Exception {
    submit("a");
    Lease<Item> open = next();
    List<Lease<Item>> none = new ArrayList<>();
    List<CountDownLatch> threads =
        IntStream.range(0, 50).mapToObj(_ -> taking(MANY, none)).toList();
    queue.close();
    for (CountDownLatch each : threads) each.await();
    submit("b");
    assertThat(none).isEmpty();
    assertThat(poll()).isNull();
    assertThat(queue.lease(1, 1, Stream::findFirst)).isNull();
    queue.awaitIdle(Duration.ofMillis(20));
    assertThat(queue.count()).isEqualTo(new Count(1, 1));
    Thread.startVirtualThread(() -> queue.end(open));
    queue.awaitIdle(LONG);
    assertThat(queue.count()).isEqualTo(new Count(1, 0));
  }

  /** What a sequence of operations shows: priority, turns of owners, and age. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void orderIsKeptUnderRandomOperations(int seed) throws Exception {
    Random random = new Random(seed);
    List<Item> waiting = new ArrayList<>(); // In the order of their lines.
    List<Lease<Item>> open = new ArrayList<>();
    // How often an owner was served since another began to wait for its turn.
    Map<String, Map<String, Integer>> passed = new HashMap<>();
    for (int step = 0; step < 5_000; step++) {
      switch (random.nextInt(7)) {
        case 0, 1, 2 -> waiting.add(submit("x" + step, "o" + random.nextInt(4), random.nextInt(3)));
        case 3, 4 -> {
          Lease<Item> lease = poll();
          assertThat(lease == null).isEqualTo(waiting.isEmpty());
          if (lease == null) break;
          open.add(lease);
          Item item = lease.piece();
          List<Item> level =
              waiting.stream().filter(each -> each.priority == item.priority).toList();
          assertThat(waiting).allMatch(each -> each.priority <= item.priority);
          assertThat(level.stream().filter(each -> each.owner.equals(item.owner)).findFirst())
              .containsSame(item);
          for (Item other : level) {
            if (other.owner.equals(item.owner)) continue;
            Map<String, Integer> over =
                passed.computeIfAbsent(other.owner + other.priority, _ -> new HashMap<>());
            over.putIfAbsent(item.owner, 0);
          }
          for (Map.Entry<String, Map<String, Integer>> each : passed.entrySet()) {
            if (!each.getKey().endsWith("" + item.priority)) continue;
            each.getValue().computeIfPresent(item.owner, (_, times) -> times + 1);
          }
          passed.remove(item.owner + item.priority);
          assertThat(passed.values().stream().flatMap(over -> over.values().stream()))
              .allMatch(times -> times <= 1);
          waiting.remove(item);
        }
        case 5 -> {
          if (open.isEmpty()) break;
          Lease<Item> lease = open.remove(random.nextInt(open.size()));
          if (random.nextBoolean()) {
            assertThat(queue.end(lease)).isTrue();
          } else {
            assertThat(queue.putBack(lease)).isTrue();
            waiting.addFirst(lease.piece());
          }
        }
        default -> {
          if (waiting.isEmpty() || random.nextBoolean()) break;
          Item item = waiting.remove(random.nextInt(waiting.size()));
          assertThat(queue.withdraw(item)).isTrue();
          boolean left =
              waiting.stream()
                  .anyMatch(
                      each -> each.owner.equals(item.owner) && each.priority == item.priority);
          if (!left) passed.remove(item.owner + item.priority);
        }
      }
      assertThat(queue.count()).isEqualTo(new Count(waiting.size(), open.size()));
    }
  }

  /**
   * Threads submit, lease, end, lose and withdraw at the same time: every piece ends once, or was
   * withdrawn, and none has two leases.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void eachPieceEndsOnceUnderConcurrency(int seed) throws Exception {
    int pieces = 4_000;
    Map<Item, AtomicInteger> ends = new ConcurrentHashMap<>();
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    CountDownLatch open = new CountDownLatch(pieces);
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Random random = new Random(31L * seed + i);
      String owner = "o" + i;
      workers.add(
          start(
              failures,
              () -> {
                for (int n = 0; n < pieces / 4; n++) {
                  Item item = submit("x" + n, owner, random.nextInt(2));
                  if (random.nextInt(10) > 0) continue;
                  if (queue.withdraw(item)) ended(ends, item, open);
                }
              }));
    }
    for (int i = 0; i < 8; i++) {
      int holder = i;
      Random random = new Random(97L * seed + i);
      workers.add(
          start(
              failures,
              () -> {
                while (true) {
                  Lease<Item> lease =
                      holder % 2 == 0
                          ? queue.lease(holder, 6, LONG)
                          : queue.lease(
                              holder, 0, waiting -> waiting.skip(random.nextInt(3)).findFirst());
                  if (lease == null && queue.isClosed()) return;
                  if (lease == null || random.nextBoolean()) LockSupport.parkNanos(1_000);
                  if (lease == null) continue;
                  if (random.nextInt(4) == 0) queue.putBack(lease);
                  else if (queue.end(lease)) ended(ends, lease.piece(), open);
                }
              }));
    }
    Thread losing =
        start(
            failures,
            () -> {
              Random random = new Random(seed);
              while (!queue.isClosed()) {
                queue.leases(random.nextInt(8)).forEach(queue::putBack);
                List<Lease<Item>> leases = queue.leases();
                assertThat(leases).extracting(Lease::piece).doesNotHaveDuplicates();
                LockSupport.parkNanos(1_000);
              }
            });
    while (!open.await(100, TimeUnit.MILLISECONDS)) assertThat(failures).isEmpty();
    queue.close();
    for (Thread worker : workers) worker.join();
    losing.join();
    assertThat(failures).isEmpty();
    assertThat(queue.count()).isEqualTo(Count.NONE);
    assertThat(queue.byOwner()).isEmpty();
    assertThat(queue.leases()).isEmpty();
    assertThat(ends.values()).hasSize(pieces).allMatch(times -> times.get() == 1);
  }

  private interface Body {
    void run() throws InterruptedException;
  }

  private static Thread start(ConcurrentLinkedQueue<Throwable> failures, Body body) {
    return Thread.startVirtualThread(() -> {
      try {
        body.run();
      } catch (InterruptedException | RuntimeException | Error e) {
        failures.add(e);
      }
    });
  }

  private static void ended(Map<Item, AtomicInteger> ends, Item item, CountDownLatch open) {
    ends.computeIfAbsent(item, _ -> new AtomicInteger()).incrementAndGet();
    open.countDown();
  }
}

package dev.kbx.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.check.Rules;
import dev.kbx.judge.Ahead;
import dev.kbx.judge.Binaries;
import dev.kbx.judge.FakeWorkers;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Stage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AssignmentsTest {
  private static final Binaries BINARIES =
      new Binaries("key", new Ahead(Map.of("triton/a.cubin", ""), Map.of()));
  private static final Plan PLAN =
      new Plan(List.of(Stage.values()), Rules.all(), "sm_90", "secret", Limits.defaults());

  private final Assignments assignments = new Assignments();

  @Test
  void theOldestJobGoesToAFreeSlot() {
    Job first = job("add");
    Job second = job("mul");
    assignments.add(first);
    assignments.add(second);
    assignments.up(7, 1);
    Assignments.Attempt attempt = only(assignments.assign(0));
    assertThat(attempt.job()).isSameAs(first);
    assertThat(attempt.slot()).isEqualTo(7);
    assertThat(assignments.assign(0)).isEmpty();
    assertThat(assignments.answered(attempt.id())).containsSame(first);
    assertThat(only(assignments.assign(0)).job()).isSameAs(second);
  }

  @Test
  void slotPrefersItsLastTask() {
    assignments.up(1, 1);
    assignments.add(job("add"));
    Assignments.Attempt attempt = only(assignments.assign(0));
    Job other = job("mul");
    Job same = job("add");
    assignments.add(other);
    assignments.add(same);
    assignments.answered(attempt.id());
    Assignments.Attempt next = only(assignments.assign(0));
    assertThat(next.job()).isSameAs(same);
    assignments.answered(next.id());
    assertThat(only(assignments.assign(0)).job()).as("but does not idle for it").isSameAs(other);
  }

  @Test
  void lostAttemptIsRepeatedOnAnotherNodeAndItsLateAnswerDropped() {
    assignments.up(1, 2);
    Job job = job("add");
    assignments.add(job);
    Assignments.Attempt lost = only(assignments.assign(0));
    assignments.down(1, "node a: its node died");
    assertThat(assignments.answered(lost.id())).isEmpty();
    assignments.up(2, 2);
    Assignments.Attempt again = only(assignments.assign(0));
    assertThat(again.job()).isSameAs(job);
    assertThat(assignments.answered(lost.id())).isEmpty();
    assertThat(assignments.answered(again.id())).containsSame(job);
    assertThat(assignments.answered(again.id())).isEmpty();
  }

  @Test
  void jobThatKilledTwoNodesIsNotTriedOnAThird() {
    Job job = job("add");
    assignments.add(job);
    for (int slot = 1; slot <= 2; slot++) {
      assignments.up(slot, 1);
      assertThat(assignments.assign(0)).hasSize(1);
      assignments.down(slot, "node " + slot + ": its node died");
    }
    assignments.up(3, 1);
    assertThat(assignments.assign(0)).isEmpty();
    assertThat(job.answer())
        .isCompletedExceptionally()
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .withMessage(
            "given up after 2 attempts: node 1: its node died; then node 2: its node died");
  }

  @Test
  void anAttemptThatTakesTooLongIsNamed() {
    assignments.up(4, 1);
    assignments.add(job("add"));
    assignments.assign(1_000);
    assertThat(assignments.overdue(1_000 + Duration.ofMinutes(1).toNanos())).isEmpty();
    assertThat(assignments.overdue(1_001 + Duration.ofMinutes(1).toNanos())).containsExactly(4);
  }

  @Test
  void cancelledJobIsRemoved() {
    assignments.up(1, 1);
    Job running = job("add");
    Job waiting = job("add");
    assignments.add(running);
    assignments.add(waiting);
    Assignments.Attempt attempt = only(assignments.assign(0));
    assignments.cancel(waiting);
    assignments.cancel(running);
    assertThat(assignments.answered(attempt.id())).isEmpty();
    assertThat(assignments.assign(0)).isEmpty();
    assertThat(assignments.waiting()).isZero();
  }

  @Test
  void waitingJobIsCompiledOnceAndMovesToTheHead() {
    assignments.up(1, 1);
    assignments.compiles(2, 1);
    Job judged = compilable("add");
    Job plain = job("mul");
    Job compiled = compilable("add");
    List.of(judged, plain, compiled).forEach(assignments::add);
    List<Assignments.Attempt> started = assignments.assign(0);
    assertThat(started).extracting(Assignments.Attempt::job).containsExactly(judged, compiled);
    assertThat(started).extracting(Assignments.Attempt::slot).containsExactly(1, 2);
    assertThat(assignments.capacity()).isEqualTo(1);
    assertThat(assignments.slots()).isEqualTo(1);
    assertThat(started.getLast().message().get()).isInstanceOf(NodeMessage.Compile.class);
    assignments.compiled(started.getLast().id(), BINARIES);
    assertThat(assignments.assign(0)).isEmpty();
    assignments.answered(started.getFirst().id());
    Assignments.Attempt next = only(assignments.assign(0));
    assertThat(next.job()).isSameAs(compiled);
    assertThat(next.message().get())
        .isInstanceOfSatisfying(
            NodeMessage.Judge.class, judge -> assertThat(judge.compiled()).isEqualTo(BINARIES));
  }

  @Test
  void onlyJobsNearTheHeadAreCompiledAhead() {
    assignments.compiles(2, 9);
    List<Job> jobs = Stream.generate(() -> compilable("add")).limit(5).toList();
    jobs.forEach(assignments::add);
    assertThat(assignments.assign(0)).as("nobody judges yet").isEmpty();
    assignments.up(1, 1);
    List<Assignments.Attempt> started = assignments.assign(0);
    assertThat(started).extracting(Assignments.Attempt::slot).containsExactly(1, 2, 2);
    assertThat(assignments.assign(0)).as("two are compiled for one that is judged").isEmpty();
    for (Assignments.Attempt compile : started.subList(1, 3)) {
      assignments.compiled(compile.id(), null);
    }
    assertThat(assignments.assign(0)).as("two wait for one that is judged").isEmpty();
  }

  @Test
  void lostCompilationIsNotRepeated() {
    assignments.up(1, 1);
    assignments.compiles(2, 1);
    assignments.add(job("add"));
    Job job = compilable("add");
    assignments.add(job);
    Assignments.Attempt first = assignments.assign(0).getFirst();
    assignments.down(2, "node b: its node died");
    assignments.compiles(3, 1);
    assertThat(assignments.assign(0)).isEmpty();
    assignments.answered(first.id());
    Assignments.Attempt judging = only(assignments.assign(0));
    assertThat(judging.job()).isSameAs(job);
    assertThat(judging.message().get()).isInstanceOf(NodeMessage.Judge.class);
    assertThat(job.losses()).as("it costs no attempt to judge").isEmpty();
  }

  /** Whatever slots do, every job ends once: with an answer, or given up after two losses. */
  @Test
  void eachJobEndsExactlyOnce() {
    for (int seed = 0; seed < 50; seed++) endsOnce(new Random(seed));
  }

  private static void endsOnce(Random random) {
    Assignments assignments = new Assignments();
    Map<Job, Integer> answers = new HashMap<>();
    Map<Integer, Job> sent = new HashMap<>();
    Deque<Integer> compiling = new ArrayDeque<>();
    Set<Integer> up = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      String task = "task" + random.nextInt(9);
      assignments.add(random.nextBoolean() ? job(task) : compilable(task));
    }
    int number = 0;
    Set<Job> all = new HashSet<>();
    for (int step = 0; step < 100_000 && assignments.open() > 0; step++) {
      if (up.size() < 4) {
        up.add(++number);
        if (number % 3 == 0) assignments.compiles(number, 1 + random.nextInt(4));
        else assignments.up(number, 1 + random.nextInt(4));
      }
      for (Assignments.Attempt attempt : assignments.assign(step)) {
        if (!attempt.compiles()) sent.put(attempt.id(), attempt.job());
        else compiling.add(attempt.id());
        all.add(attempt.job());
      }
      if (!compiling.isEmpty() && random.nextInt(3) == 0) {
        assignments.compiled(compiling.removeFirst(), random.nextBoolean() ? null : BINARIES);
      }
      if (random.nextInt(40) == 0) {
        int slot = up.iterator().next();
        up.remove(slot);
        assignments.down(slot, "died");
      }
      if (!sent.isEmpty()) {
        List<Integer> ids = List.copyOf(sent.keySet());
        int id = ids.get(random.nextInt(ids.size()));
        assignments.answered(id).ifPresent(job -> answers.merge(job, 1, Integer::sum));
      }
    }
    assertThat(assignments.waiting()).isZero();
    assertThat(all)
        .hasSize(200)
        .allSatisfy(job ->
            assertThat(answers.getOrDefault(job, 0))
                .isEqualTo(job.answer().isCompletedExceptionally() ? 0 : 1));
  }

  private static Assignments.Attempt only(List<Assignments.Attempt> started) {
    assertThat(started).hasSize(1);
    return started.getFirst();
  }

  private static Job compilable(String task) {
    TaskMessage sent = TaskMessage.of(FakeWorkers.candidate(task, Map.of()).task(), "add.py");
    NodeMessage.SentCandidate none =
        new NodeMessage.SentCandidate(sent, "", "", 0, null, null, null, Map.of());
    return new Job(
        task,
        Duration.ofMinutes(1),
        (id, compiled) -> new NodeMessage.Judge(id, none, PLAN, compiled),
        id -> new NodeMessage.Compile(id, none, PLAN, "sm_90"));
  }

  private static Job job(String task) {
    return new Job(
        task,
        Duration.ofMinutes(1),
        _ -> {
          throw new AssertionError("sent");
        });
  }
}

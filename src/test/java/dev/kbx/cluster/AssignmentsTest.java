package dev.kbx.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AssignmentsTest {
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
  void aSlotPrefersTheTaskThatItJudgedLast() {
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
  void aLostAttemptIsRepeatedElsewhereAndItsLateAnswerIsDropped() {
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
  void aJobUnderWhichTwoNodesDieIsNotTriedOnAThird() {
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
  void whatNobodyWaitsForIsForgotten() {
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

  /** Whatever slots do, every job ends once: with an answer, or given up after two losses. */
  @Test
  void everyJobEndsExactlyOnce() {
    for (int seed = 0; seed < 50; seed++) endsOnce(new Random(seed));
  }

  private static void endsOnce(Random random) {
    Assignments assignments = new Assignments();
    Map<Job, Integer> answers = new HashMap<>();
    Map<Integer, Job> sent = new HashMap<>();
    Set<Integer> up = new HashSet<>();
    for (int i = 0; i < 200; i++) assignments.add(job("task" + random.nextInt(9)));
    int number = 0;
    Set<Job> all = new HashSet<>();
    for (int step = 0; step < 5_000; step++) {
      if (up.size() < 4) {
        up.add(++number);
        assignments.up(number, 1 + random.nextInt(4));
      }
      for (Assignments.Attempt attempt : assignments.assign(step)) {
        sent.put(attempt.id(), attempt.job());
        all.add(attempt.job());
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

  private static Job job(String task) {
    return new Job(
        task,
        Duration.ofMinutes(1),
        _ -> {
          throw new AssertionError("sent");
        });
  }
}

package dev.kbx.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TrialsTest {
  private static final List<String> NONE = List.of();
  private static final List<String> RULE = List.of("patched-timer");

  private static Trials trials(Trial... trials) {
    return new Trials(
        new Verdict.Device("cuda", "a GPU", null, null, null), Map.of(), List.of(trials));
  }

  private static Trial cheat(
      String mustEnd, Status ended, @Nullable Double speedup, List<String> rejectedBy) {
    return cheat(mustEnd, ended, speedup, rejectedBy, NONE);
  }

  private static Trial cheat(
      String mustEnd,
      Status ended,
      @Nullable Double speedup,
      List<String> rejectedBy,
      List<String> flags) {
    return new Trial(
        Trial.Kind.CHEAT,
        "timing",
        "patched-clock",
        "Stops the clock.",
        "cheats/patched_clock/relu.py",
        List.of("metr"),
        rejectedBy,
        mustEnd,
        rejectedBy,
        flags,
        ended,
        null,
        speedup,
        NONE);
  }

  @Test
  void cheatWrongOnlyBeyondTheGradeIsNotAccepted() {
    Trial told = cheat("correct, breaks on non_contiguous", Status.CORRECT, 0.9, NONE);
    assertThat(told.beyond()).isTrue();
    assertThat(trials(told).accepted()).isZero();
  }

  private static Trial honest(Status ended, List<String> flags, @Nullable Double speedup) {
    return new Trial(
        Trial.Kind.HONEST,
        null,
        "plain",
        "Plain.",
        "honest/plain/relu.py",
        NONE,
        NONE,
        null,
        NONE,
        flags,
        ended,
        null,
        speedup,
        NONE);
  }

  @Test
  void correctCheatIsAcceptedUnlessItHasMerit() {
    Trials some =
        trials(
            cheat("wrong_values", Status.CORRECT, null, NONE),
            cheat("wrong_values", Status.CORRECT, null, RULE),
            cheat("wrong_values", Status.WRONG_VALUES, null, NONE),
            cheat("cheating | merit", Status.CORRECT, null, NONE));
    assertThat(some.accepted()).isEqualTo(2);
    assertThat(some.through()).isEqualTo(1);
    assertThat(some.rejected()).isEqualTo(1);
    assertThat(some.onMerit()).isEqualTo(1);
  }

  @Test
  void knownGapIsAccepted() {
    Trial missed = cheat("wrong_values | gap", Status.CORRECT, 72.0, NONE);
    Trial found = cheat("wrong_values | gap", Status.WRONG_VALUES, null, NONE);
    Trials some = trials(missed, found);
    assertThat(some.accepted()).isEqualTo(1);
    assertThat(some.through()).isEqualTo(1);
    assertThat(some.knownGaps()).isEqualTo(1);
    assertThat(some.onMerit()).isZero();
    assertThat(some.differing()).as("is as its header says").isEmpty();
    assertThat(CheatTable.totals(some))
        .contains("1 of 2 cheats accepted with static rules on, 1 with them off")
        .contains("(1 known gaps, accepted)");
  }

  @Test
  void keptResultIsComparedWithTheHeaderOfToday() {
    Trial kept = cheat("runtime_error | merit", Status.CORRECT, 0.2, NONE);
    assertThat(trials(kept).accepted()).isZero();
    Trials today =
        trials(kept).expecting(Map.of(kept.source(), Header.Ending.parse("gpu", "out_of_bounds")));
    assertThat(today.accepted()).isEqualTo(1);
    assertThat(today.differing().getFirst().problems())
        .containsExactly("ended as correct, must be out_of_bounds");
    Trials later =
        today.expecting(Map.of(kept.source(), Header.Ending.parse("gpu", "out_of_bounds | gap")));
    assertThat(later.differing()).isEmpty();
    assertThat(later.knownGaps()).isEqualTo(1);
    assertThat(later.expecting(Map.of())).isEqualTo(later);
  }

  @Test
  void meritDoesNotExplainASpeedupAboveHonestKernels() {
    Trial fast = cheat("merit", Status.CORRECT, 2.6, NONE);
    assertThat(trials(fast, honest(Status.CORRECT, NONE, 1.0)).accepted()).isEqualTo(1);
    assertThat(trials(fast, honest(Status.CORRECT, NONE, 1.0)).differing()).containsExactly(fast);
    assertThat(trials(fast, honest(Status.CORRECT, NONE, 2.0)).accepted()).isZero();
    assertThat(trials(fast).accepted()).as("nothing of the task was timed").isZero();
    assertThat(trials(cheat("merit", Status.CORRECT, 72.0, NONE)).accepted()).isEqualTo(1);
  }

  @Test
  void doubtfulSpeedupIsNotAReward() {
    for (String told : List.of("state_ignored", "degenerate_task")) {
      Trial folded = cheat("merit", Status.CORRECT, 72.0, NONE, List.of(told, "scaled_inputs"));
      assertThat(trials(folded).accepted()).isZero();
      assertThat(folded.told()).containsExactly(told);
    }
    Trial throttled = cheat("merit", Status.CORRECT, 72.0, NONE, List.of("throttled"));
    assertThat(trials(throttled).accepted()).isEqualTo(1);
  }

  @Test
  void honestKernelIsRejectedByAnyStatusOrFlag() {
    Trials some =
        trials(
            honest(Status.CORRECT, NONE, null),
            honest(Status.CORRECT, List.of("side-stream"), null),
            honest(Status.CHEATING, NONE, null));
    assertThat(some.honest()).isEqualTo(3);
    assertThat(some.turnedAway()).isEqualTo(2);
  }
}

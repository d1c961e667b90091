package dev.kbx.judge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.Patience;
import dev.kbx.candidate.Candidate;
import dev.kbx.device.DeviceLost;
import dev.kbx.device.Slot;
import dev.kbx.device.Workers;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.worker.DeviceSlot;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** GPUs that fail, and candidates that make them: bounded, attributed, and the run goes on. */
@Timeout(Patience.SECONDS)
class FaultsTest {
  /** The fake oracle of this one does not start. */
  private static final int DEAD = 7;

  private final Workers workers = FakeWorkers.start();
  private final List<Slot> slots = new ArrayList<>();
  private final List<Judgement> verdicts = Collections.synchronizedList(new ArrayList<>());

  @AfterEach
  void close() {
    workers.close();
  }

  private Slot gpu(int index) {
    Slot slot = workers.slot(DeviceSlot.cuda(index));
    slots.add(slot);
    return slot;
  }

  private static Plan plan() {
    return new Plan(
        List.of(Stage.CALL, Stage.CORRECT, Stage.PERF),
        FakeWorkers.plan().rules(),
        "sm_90",
        "secret",
        FakeWorkers.plan().limits());
  }

  private static List<Candidate> candidates(int count, String task, Map<String, ?> script) {
    return IntStream.range(0, count).mapToObj(_ -> FakeWorkers.candidate(task, script)).toList();
  }

  private void judge(List<Candidate> candidates) throws InterruptedException {
    LocalReferee referee = FakeWorkers.referee(slots.toArray(new Slot[0]));
    Dispatcher.run(
        referee.capacity(),
        candidates,
        candidate -> verdicts.add(referee.judge(candidate, plan())));
  }

  @Test
  void remainingDevicesJudgeWhatALostDeviceCannot() throws Exception {
    gpu(DEAD);
    gpu(0);
    gpu(0);
    judge(candidates(8, "timed", Map.of()));
    assertThat(verdicts).hasSize(8).allMatch(v -> v.status() == Status.CORRECT);
  }

  @Test
  void lossOfTheLastDeviceEndsTheRunWithoutVerdicts() {
    gpu(DEAD);
    assertThatThrownBy(() -> judge(candidates(3, "timed", Map.of())))
        .isInstanceOf(DeviceLost.class)
        .hasMessageContaining("no longer computes");
    assertThat(verdicts).isEmpty();
  }

  @Test
  void deviceIsProbedAfterAFault() {
    gpu(0);
    // The fake device fails when it is probed after this task; an honest candidate never leads to
    // that.
    Candidate crashes = FakeWorkers.candidate("broken", Map.of("call", List.of("signal 11")));
    Candidate next = FakeWorkers.candidate("timed", Map.of());
    assertThatThrownBy(() -> judge(List.of(crashes, next))).isInstanceOf(DeviceLost.class);
    assertThat(verdicts)
        .singleElement()
        .satisfies(judgement -> {
          assertThat(judgement.status()).isEqualTo(Status.CRASHED);
          assertThat(judgement.flags()).contains(Judgement.DEVICE_LOST);
          assertThat(judgement.lasting()).isFalse();
        });
  }

  @Test
  void faultBesideOthersIsRetriedAlone() throws Exception {
    for (int i = 0; i < 4; i++) gpu(0);
    judge(candidates(8, "timed", Map.of("call", List.of("crowded"))));
    assertThat(verdicts)
        .hasSize(8)
        .allSatisfy(v -> assertThat(v.status()).as(v.message()).isEqualTo(Status.CORRECT));
  }

  @Test
  void crashThatTheDeviceSurvivesDoesNotAffectTheNext() throws Exception {
    gpu(0);
    Candidate crashes = FakeWorkers.candidate("timed", Map.of("call", List.of("signal 11")));
    Candidate next = FakeWorkers.candidate("timed", Map.of());
    judge(List.of(crashes, next));
    assertThat(verdicts)
        .extracting(Judgement::status)
        .containsExactly(Status.CRASHED, Status.CORRECT);
  }
}

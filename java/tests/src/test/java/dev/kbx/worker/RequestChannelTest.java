package dev.kbx.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests that are sent before earlier ones are answered. */
@Timeout(Patience.SECONDS)
class RequestChannelTest {

  private final List<Message> sent = new ArrayList<>();
  private long now = 1_000;
  private final RequestChannel conversation = new RequestChannel("peer", sent::add, () -> now);

  private boolean answered(int id) {
    return conversation.answer(probed(id), now);
  }

  private static OracleMessage.Probed probed(int id) {
    return new OracleMessage.Probed(id, 0);
  }

  @Test
  void answersReachTheirRequestsInAnyOrder() throws Exception {
    RequestChannel.Asked first = conversation.send(OracleMessage.Probe::new);
    RequestChannel.Asked second = conversation.send(OracleMessage.Probe::new);
    assertThat(sent).containsExactly(new OracleMessage.Probe(1), new OracleMessage.Probe(2));
    assertThat(answered(1)).isTrue();
    assertThat(answered(2)).isTrue();
    assertThat(second.answer(Patience.LIMIT)).isEqualTo(probed(2));
    assertThat(first.answer(Patience.LIMIT)).isEqualTo(probed(1));
  }

  @Test
  void requestTimeBeginsWithThePreviousAnswer() {
    RequestChannel.Asked first = conversation.send(OracleMessage.Probe::new);
    RequestChannel.Asked second = conversation.send(OracleMessage.Probe::new);
    now += 20;
    answered(1);
    now += 3;
    answered(2);
    assertThat(List.of(first.nanosInTurn(), second.nanosInTurn())).containsExactly(20L, 3L);
  }

  @Test
  void requestTimeBeginsWithSendingAfterTheLastAnswer() {
    answered(99);
    now += 20;
    RequestChannel.Asked asked = conversation.send(OracleMessage.Probe::new);
    now += 3;
    answered(1);
    assertThat(asked.nanosInTurn()).isEqualTo(3);
  }

  @Test
  void answerTimeIsItsArrival() {
    RequestChannel.Asked asked = conversation.send(OracleMessage.Probe::new);
    conversation.answer(probed(1), now + 3);
    now += 20;
    assertThat(asked.nanos()).isEqualTo(3);
  }

  @Test
  void excludedTimeExtendsTheLimit() throws Exception {
    RequestChannel.Asked asked = conversation.send(OracleMessage.Probe::new);
    Message answer =
        asked.answer(
            Duration.ofMillis(1),
            () -> {
              answered(1); // After the limit.
              return Duration.ofDays(1).toNanos();
            });
    assertThat(answer).isEqualTo(probed(1));
  }

  @Test
  void waitEndsAtTheLimit() {
    RequestChannel.Asked asked = conversation.send(OracleMessage.Probe::new);
    assertThatThrownBy(() -> asked.answer(Duration.ofMillis(1), () -> 0))
        .isInstanceOf(TimeoutException.class);
    assertThat(answered(1)).as("late").isTrue();
  }

  @Test
  void abandonedAnswerIsIgnored() throws Exception {
    RequestChannel.Asked left = conversation.send(OracleMessage.Probe::new);
    RequestChannel.Asked wanted = conversation.send(OracleMessage.Probe::new);
    assertThat(answered(1)).isTrue();
    assertThat(answered(1)).isFalse();
    assertThat(answered(2)).isTrue();
    assertThat(wanted.answer(Patience.LIMIT)).isEqualTo(probed(2));
    assertThat(left.answer(Patience.LIMIT)).isEqualTo(probed(1));
  }

  @Test
  void lateAnswerIsIgnoredAndTheEndFailsPendingRequests() {
    RequestChannel.Asked late = conversation.send(OracleMessage.Probe::new);
    assertThatThrownBy(() -> late.answer(Duration.ofMillis(1)))
        .isInstanceOf(TimeoutException.class);
    assertThat(answered(1)).as("what was asked for").isTrue();
    assertThat(answered(1)).as("once").isFalse();
    RequestChannel.Asked open = conversation.send(OracleMessage.Probe::new);
    conversation.end(new WorkerFailure("gone"));
    assertThatThrownBy(() -> open.answer(Patience.LIMIT))
        .isInstanceOf(ExecutionException.class)
        .hasRootCauseMessage("gone");
  }
}

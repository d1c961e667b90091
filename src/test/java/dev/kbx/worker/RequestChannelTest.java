package dev.kbx.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests that are sent before earlier ones are answered. */
@Timeout(30)
class RequestChannelTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration MOMENT = Duration.ofMillis(20);

  private final List<Message> sent = new ArrayList<>();
  private final RequestChannel conversation = new RequestChannel("peer", sent::add);

  private boolean answered(int id) {
    return conversation.answer(probed(id), System.nanoTime());
  }

  private static OracleMessage.Probed probed(int id) {
    return new OracleMessage.Probed(id, 0);
  }

  @Test
  void answersFindWhoeverAskedHoweverLateThatOneWaits() throws Exception {
    RequestChannel.Asked first = conversation.send(OracleMessage.Probe::new);
    RequestChannel.Asked second = conversation.send(OracleMessage.Probe::new);
    assertThat(sent).containsExactly(new OracleMessage.Probe(1), new OracleMessage.Probe(2));
    assertThat(answered(1)).isTrue();
    assertThat(answered(2)).isTrue();
    assertThat(second.answer(LONG)).isEqualTo(probed(2));
    assertThat(first.answer(LONG)).isEqualTo(probed(1));
  }

  @Test
  void theTimeOfARequestBeginsWithTheAnswerBeforeIt() throws Exception {
    RequestChannel.Asked first = conversation.send(OracleMessage.Probe::new);
    RequestChannel.Asked second = conversation.send(OracleMessage.Probe::new);
    long start = System.nanoTime();
    Thread.sleep(MOMENT);
    answered(1);
    answered(2);
    long end = System.nanoTime();
    assertThat(first.nanosInTurn()).isBetween(MOMENT.toNanos() / 2, Long.MAX_VALUE);
    assertThat(second.nanosInTurn()).isBetween(0L, end - start - MOMENT.toNanos() / 2);
  }

  @Test
  void aRequestThatWasSentLaterThanTheLastAnswerBeginsWithItsSending() throws Exception {
    answered(99);
    Thread.sleep(MOMENT);
    long start = System.nanoTime();
    RequestChannel.Asked asked = conversation.send(OracleMessage.Probe::new);
    answered(1);
    assertThat(asked.nanosInTurn()).isBetween(0L, System.nanoTime() - start);
  }

  @Test
  void anAnswerHasComeWhenItCameAndNotWhenItIsRead() {
    long came = System.nanoTime() + Duration.ofHours(1).toNanos();
    RequestChannel.Asked asked = conversation.send(OracleMessage.Probe::new);
    conversation.answer(probed(1), came);
    assertThat(asked.nanos()).isBetween(came - System.nanoTime(), came);
  }

  @Test
  void whatNobodyWaitsForDisturbsNobody() throws Exception {
    RequestChannel.Asked left = conversation.send(OracleMessage.Probe::new);
    RequestChannel.Asked wanted = conversation.send(OracleMessage.Probe::new);
    assertThat(answered(1)).isTrue();
    assertThat(answered(1)).isFalse();
    assertThat(answered(2)).isTrue();
    assertThat(wanted.answer(LONG)).isEqualTo(probed(2));
    assertThat(left.answer(LONG)).isEqualTo(probed(1));
  }

  @Test
  void aLateAnswerIsHeardByNobodyAndTheEndFailsAllThatAreUnderWay() {
    RequestChannel.Asked late = conversation.send(OracleMessage.Probe::new);
    assertThatThrownBy(() -> late.answer(Duration.ofMillis(1)))
        .isInstanceOf(TimeoutException.class);
    assertThat(answered(1)).as("what was asked for").isTrue();
    assertThat(answered(1)).as("once").isFalse();
    RequestChannel.Asked open = conversation.send(OracleMessage.Probe::new);
    conversation.end(new WorkerFailure("gone"));
    assertThatThrownBy(() -> open.answer(LONG))
        .isInstanceOf(ExecutionException.class)
        .hasRootCauseMessage("gone");
  }
}

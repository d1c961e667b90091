package dev.kbx.generate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.llm.ChatRequest.Parameters;
import dev.kbx.llm.ModelFailure;
import dev.kbx.method.Algorithm;
import dev.kbx.method.Choice;
import dev.kbx.method.Event;
import dev.kbx.method.MethodOptions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is reserved for requests in flight, and what is left of it when they end. */
class AccountsTest {
  private static final Unit UNIT = new Unit("single", "Activation/relu", 0);
  private static final Accounts.Wall WALL = new Accounts.Wall(0, 0);

  private final Accounts accounts = new Accounts();

  private static MethodSettings settings(long requests) {
    return new MethodSettings(
        UNIT.method(),
        new MethodOptions(Algorithm.SINGLE, 1, 1, 0, Choice.LAST, false),
        "m",
        Parameters.defaults(),
        1,
        Map.of(),
        new Budget(null, requests, null, null, null, null),
        new Budget(null, requests, null, null, null, null),
        null,
        "prompts");
  }

  private boolean begins(long requests) {
    if (accounts.reserve(UNIT, settings(requests), WALL).isPresent()) return false;
    accounts.add(UNIT, new Event.Prompt("a", "k", "m", Parameters.defaults(), List.of(), Map.of()));
    return true;
  }

  private boolean repeats(long requests) {
    return accounts.reserveAgain(UNIT, settings(requests), WALL).isEmpty();
  }

  private void fails(int attempts) {
    accounts.add(
        UNIT,
        new Event.NoReply(
            "a", ModelFailure.Kind.NO_ANSWER, "no", null, null, 0, attempts, attempts));
  }

  private void answers(int attempts, boolean cached) {
    accounts.add(
        UNIT,
        new Event.Reply(
            "a", "k", "m", "m", "text", null, "stop", null, null, 0, attempts, 0, cached));
  }

  @Test
  void unsentRequestsDoNotCountAgainstTheLimit() {
    for (int i = 0; i < 4; i++) {
      assertThat(begins(2)).as("request %d", i).isTrue();
      fails(0);
    }
    for (int i = 0; i < 4; i++) {
      assertThat(begins(2)).as("request %d from a cache", i).isTrue();
      answers(1, true);
    }
    assertThat(accounts.all().requests()).isZero();
    assertThat(accounts.all().unpriced()).isZero();
    assertThat(accounts.all().calls()).isEqualTo(4);
  }

  @Test
  void sentRequestsAreCountedOnce() {
    assertThat(begins(5)).isTrue();
    assertThat(repeats(5)).isTrue();
    assertThat(repeats(5)).isTrue();
    fails(3);
    assertThat(accounts.of(UNIT).requests()).isEqualTo(3);
    assertThat(begins(5)).isTrue();
    answers(1, false);
    assertThat(begins(5)).isTrue();
    assertThat(begins(5)).as("one in flight is the fifth").isFalse();
    assertThat(repeats(5)).isFalse();
    fails(1);
    assertThat(accounts.all().requests()).isEqualTo(5);
    assertThat(accounts.all().unpriced()).isEqualTo(5);
  }
}

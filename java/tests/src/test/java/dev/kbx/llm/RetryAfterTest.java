package dev.kbx.llm;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RetryAfterTest {
  @Test
  void retryAfterIsSecondsOrADate() {
    assertThat(ModelSettings.RetryPolicy.retryAfter("7", FakeTime.START))
        .isEqualTo(Duration.ofSeconds(7));
    assertThat(ModelSettings.RetryPolicy.retryAfter(" 0.25 ", FakeTime.START))
        .isEqualTo(Duration.ofMillis(250));
    assertThat(
            ModelSettings.RetryPolicy.retryAfter("Wed, 25 Nov 2026 10:01:00 GMT", FakeTime.START))
        .isEqualTo(Duration.ofMinutes(1));
    assertThat(
            ModelSettings.RetryPolicy.retryAfter("Wed, 25 Nov 2026 09:00:00 GMT", FakeTime.START))
        .isEqualTo(Duration.ZERO);
    for (String other : new String[] {"", "-3", "soon", "1e99", "9999999999999999999"}) {
      assertThat(ModelSettings.RetryPolicy.retryAfter(other, FakeTime.START)).as(other).isNull();
    }
  }

  @Test
  void jitterNeverShortensRetryAfter() {
    AttemptFailure asked =
        new AttemptFailure(ModelFailure.Kind.RATE_LIMITED, "", Duration.ofSeconds(10));
    ModelSettings.RetryPolicy policy = ModelSettings.RetryPolicy.DEFAULT;
    assertThat(policy.pause(asked, 1, () -> 0)).contains(Duration.ofSeconds(10));
    assertThat(policy.pause(asked, 1, () -> 1)).contains(Duration.ofSeconds(11));
    AttemptFailure plain = new AttemptFailure(ModelFailure.Kind.OVERLOADED, "");
    assertThat(policy.pause(plain, 1, () -> 0)).contains(Duration.ofMillis(500));
    assertThat(policy.pause(plain, 1, () -> 1)).contains(Duration.ofSeconds(1));
    assertThat(policy.pause(plain, 5, () -> 1)).contains(Duration.ofSeconds(16));
    assertThat(policy.pause(plain, 8, () -> 1)).isEmpty();
    assertThat(new ModelSettings.RetryPolicy(99, Duration.ofSeconds(1)).pause(plain, 50, () -> 1))
        .contains(Duration.ofMinutes(1));
  }
}

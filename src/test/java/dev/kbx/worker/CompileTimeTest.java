package dev.kbx.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How much of its time a runner may call compiling. */
class CompileTimeTest {
  private final CompileTime time = new CompileTime();

  @Test
  void whatIsCompiledNowCountsAsWhatWasCompiledBefore() {
    time.note(true, 100);
    time.note(false, 130);
    assertThat(time.nanos(500)).isEqualTo(30);
    time.note(true, 600);
    assertThat(time.nanos(605)).isEqualTo(35);
  }

  @Test
  void whoSaysTwiceThatItBeginsOrEndsGainsNothing() {
    time.note(false, 50);
    time.note(true, 100);
    time.note(true, 110);
    time.note(false, 130);
    time.note(false, 200);
    assertThat(time.nanos(500)).isEqualTo(30);
  }

  @Test
  void itHasAnEnd() {
    time.note(true, 0);
    assertThat(time.nanos(Duration.ofHours(1).toNanos()))
        .isEqualTo(Duration.ofMinutes(2).toNanos());
  }
}

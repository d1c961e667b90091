package dev.kbx.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How much of its time a runner may call compiling. */
class CompileTimeTest {
  private final CompileTime time = new CompileTime();

  @Test
  void openCompilationCountsAsFinishedOnes() {
    var _ = time.note(true, 100);
    var _ = time.note(false, 130);
    assertThat(time.nanos(500)).isEqualTo(30);
    var _ = time.note(true, 600);
    assertThat(time.nanos(605)).isEqualTo(35);
  }

  @Test
  void repeatedBeginOrEndAddsNoCompileTime() {
    var _ = time.note(false, 50);
    var _ = time.note(true, 100);
    var _ = time.note(true, 110);
    var _ = time.note(false, 130);
    var _ = time.note(false, 200);
    assertThat(time.nanos(500)).isEqualTo(30);
  }

  @Test
  void numberOfCompilationsIsBounded() {
    boolean believed = true;
    for (int i = 0; i < 10_000; i++) believed &= time.note(true, i) && time.note(false, i);
    assertThat(believed).isTrue();
    assertThat(time.note(true, 10_000)).isFalse();
  }

  @Test
  void openCompilationCountsForTwoMinutesAtMost() {
    var _ = time.note(true, 0);
    assertThat(time.nanos(Duration.ofHours(1).toNanos()))
        .isEqualTo(Duration.ofMinutes(2).toNanos());
  }
}

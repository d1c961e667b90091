package dev.kbx.syntax;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

class ThreadTimeTest {
  private static final long MILLI = 1_000_000;

  @Test
  void threadTimePassesWithWorkNotWithWaiting() throws Exception {
    try (Arena memory = Arena.ofConfined()) {
      ThreadTime time = new ThreadTime(memory);
      long start = time.nanos();
      Thread.sleep(200);
      assertThat(time.nanos() - start).isLessThan(100 * MILLI);
      while (time.nanos() - start < 120 * MILLI) Thread.onSpinWait();
      assertThat(time.nanos() - start).isGreaterThanOrEqualTo(120 * MILLI);
    }
  }
}

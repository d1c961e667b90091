package dev.kbx.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LimitsTest {
  @Test
  void compilersGetTimeAndMemoryBesideTheCandidate() {
    Limits usual = Limits.of(Duration.ofSeconds(5));
    Limits compiling = usual.withCompilers();
    assertThat(compiling.call()).isEqualTo(Duration.ofSeconds(65));
    assertThat(compiling.load()).isEqualTo(Duration.ofSeconds(65));
    assertThat(compiling.allowance().memoryBytes()).isEqualTo(6L << 30);
    assertThat(compiling.allowance().processes()).isEqualTo(usual.allowance().processes());
    assertThat(compiling.needs()).isEqualTo(usual.needs());
    assertThat(compiling.isUsual()).isFalse();
    assertThat(usual.isUsual()).isTrue();
  }

  @Test
  void callsEndAtTheirTotalTimeLimit() {
    Limits limits = Limits.defaults();
    long all = limits.correctness().toNanos();
    assertThat(limits.allowAnotherCall(all)).isTrue();
    assertThat(limits.allowAnotherCall(all + 1)).isFalse();
  }
}

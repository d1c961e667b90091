package dev.kbx.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AgainstTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "eager | eager | false",
        "max-autotune, warm cache | max-autotune | true",
        "best (compile) | compile | false",
        "best (max-autotune), warm cache | max-autotune | true",
      })
  void baselineTextIsParsed(String words, String measured, boolean warm) {
    Against against = Against.of(words);
    assertThat(against.measured()).isEqualTo(measured);
    assertThat(against.warm()).isEqualTo(warm);
    assertThat(against).hasToString(words);
  }

  @Test
  void bestBaselinesOfTasksAreEqual() {
    assertThat(Against.of("best (compile), warm cache").ofAnyTask())
        .isEqualTo(Against.of("best (eager), warm cache").ofAnyTask())
        .hasToString("best, warm cache");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "(", "a (b", "a (b) c", ", warm", "a, warm cache, warm cache"})
  void unknownTextIsKept(String words) {
    assertThat(Against.of(words)).hasToString(words);
  }
}

package dev.kbx.section;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.analysis.MethodAndModel;
import org.junit.jupiter.api.Test;

class FiltersTest {
  @Test
  void linkEncodesAnUnstatedModel() {
    assertThat(Filters.of(new MethodAndModel("a&b", null), "category", "Math"))
        .isEqualTo("method=a%26b&model=not+stated&category=Math");
  }
}

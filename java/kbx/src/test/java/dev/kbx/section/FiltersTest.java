package dev.kbx.section;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.analysis.Maker;
import org.junit.jupiter.api.Test;

class FiltersTest {
  @Test
  void aLinkNamesWhatIsNotStated() {
    assertThat(Filters.of(new Maker("a&b", null), "category", "Math"))
        .isEqualTo("method=a%26b&model=not+stated&category=Math");
  }
}

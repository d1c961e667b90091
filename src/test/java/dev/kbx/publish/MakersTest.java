package dev.kbx.publish;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.analysis.Maker;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Names of methods and models in figures say what differs, and are different. */
class MakersTest {
  @Test
  void sayWhatDiffers() {
    assertThat(new Makers(List.of(new Maker("a", "m"), new Maker("b", "m"))).all())
        .containsExactly("a", "b");
    assertThat(new Makers(List.of(new Maker("a", "m"), new Maker("a", "n"))).all())
        .containsExactly("m", "n");
    assertThat(new Makers(List.of(new Maker("a", "m"), new Maker("b", "n"))).all())
        .containsExactly("a · m", "b · n");
    assertThat(new Makers(List.of(new Maker(null, null))).all()).containsExactly("all candidates");
    assertThat(new Makers(List.of(new Maker(null, null), new Maker("a", null))).all())
        .containsExactly("not stated", "a");
  }

  @Test
  void areShortAndDifferent() {
    String model = "openai:a-model-with-a-very-long-name-";
    Makers makers =
        new Makers(List.of(new Maker("x", model + "1 z"), new Maker("x", model + "2 z")));
    assertThat(makers.all()).doesNotHaveDuplicates().allMatch(name -> name.length() <= 30);
  }
}

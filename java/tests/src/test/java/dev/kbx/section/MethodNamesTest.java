package dev.kbx.section;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.analysis.MethodAndModel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Names of methods and models in figures say what differs, and are different. */
class MethodNamesTest {
  private static List<String> names(MethodAndModel... makers) {
    List<MethodAndModel> all = List.of(makers);
    MethodNames names = new MethodNames(all);
    return all.stream().map(names::of).toList();
  }

  @Test
  void namesHaveOnlyDifferingParts() {
    assertThat(names(new MethodAndModel("a", "m"), new MethodAndModel("b", "m")))
        .containsExactly("a", "b");
    assertThat(names(new MethodAndModel("a", "m"), new MethodAndModel("a", "n")))
        .containsExactly("m", "n");
    assertThat(names(new MethodAndModel("a", "m"), new MethodAndModel("b", "n")))
        .containsExactly("a · m", "b · n");
    assertThat(names(new MethodAndModel(null, null))).containsExactly("all candidates");
    assertThat(names(new MethodAndModel(null, null), new MethodAndModel("a", null)))
        .containsExactly("not stated", "a");
    assertThat(new MethodNames(List.of()).of("a", "m")).isEqualTo("a · m");
  }

  @Test
  void longNamesAreShortenedDistinctly() {
    String model = "openai:a-model-with-a-very-long-name-";
    List<String> names =
        names(new MethodAndModel("x", model + "1 z"), new MethodAndModel("x", model + "2 z"));
    assertThat(names).doesNotHaveDuplicates().allMatch(name -> name.length() <= 30);
  }
}

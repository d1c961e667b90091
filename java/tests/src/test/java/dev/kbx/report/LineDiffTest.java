package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LineDiffTest {
  private static String lines(int count) {
    return IntStream.range(0, count).mapToObj(i -> "line " + i).collect(Collectors.joining("\n"));
  }

  @Test
  void equalTextsHaveNoDifference() {
    LineDiff diff = new LineDiff(lines(5), lines(5) + "\n");
    assertThat(diff.unified("a", "b")).isEmpty();
    assertThat(diff.similarity()).isEqualTo(1);
    assertThat(new LineDiff("", "").similarity()).isEqualTo(1);
  }

  @Test
  void changeHasThreeContextLines() {
    LineDiff diff = new LineDiff(lines(12), lines(12).replace("line 5", "other"));
    assertThat(diff.unified("k.py::before", "k.py::after"))
        .isEqualTo(
            """
            --- k.py::before
            +++ k.py::after
            @@ -3,7 +3,7 @@
             line 2
             line 3
             line 4
            -line 5
            +other
             line 6
             line 7
             line 8
            """);
    assertThat(diff.similarity()).isEqualTo(22.0 / 24);
    assertThat(diff.linesBefore()).isEqualTo(12);
  }

  @Test
  void distantChangesAreSeparateHunks() {
    String after = lines(30).replace("line 5\n", "").replace("line 20\n", "line 20\nmore\n");
    assertThat(new LineDiff(lines(30), after).unified("a", "b").lines())
        .filteredOn(line -> line.startsWith("@@"))
        .containsExactly("@@ -3,7 +3,6 @@", "@@ -19,6 +18,7 @@");
    String near = lines(30).replace("line 5\n", "").replace("line 9\n", "");
    assertThat(new LineDiff(lines(30), near).unified("a", "b").lines())
        .filteredOn(line -> line.startsWith("@@"))
        .hasSize(1);
  }
}

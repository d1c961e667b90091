package dev.kbx.facts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.program.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QualityTest {
  /** Expected figures were computed by radon 6.0.1 on Python 3.11. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kernel.py | 3.0 | 4 | 75.21764714445925 | 25 | 18 | 2",
        "branches.py | 8.0 | 13 | 45.54562217200002 | 37 | 33 | 0",
        "layout.py | 1.5 | 2 | 93.79667957909986 | 27 | 15 | 4",
      })
  void agreesWithRadon(
      String file, double average, int max, double index, int total, int code, int comments)
      throws IOException {
    Quality quality =
        Quality.of(
            Program.of(
                Files.readString(Path.of("java/tests/src/test/resources/facts").resolve(file))));
    assertThat(quality.averageComplexity()).isEqualTo(average);
    assertThat(quality.maxComplexity()).isEqualTo(max);
    assertThat(quality.maintainabilityIndex()).isCloseTo(index, within(1e-9));
    assertThat(quality.totalLines()).isEqualTo(total);
    assertThat(quality.codeLines()).isEqualTo(code);
    assertThat(quality.commentLines()).isEqualTo(comments);
    assertThat(quality.commentRatio()).isCloseTo((double) comments / total, within(1e-12));
  }

  @Test
  void countsNestedFunctionsByThemselves() {
    Quality quality =
        Quality.of(
            Program.of(
                """
                class A:
                    def f(self, x):
                        def g(y):
                            return y if y else x
                        return g if x and self else None
                """));
    assertThat(quality.averageComplexity()).isEqualTo(2.5);
    assertThat(quality.maxComplexity()).isEqualTo(3);
  }

  @Test
  void emptyAndBrokenSourcesHaveMetrics() {
    Quality empty = Quality.of(Program.of(""));
    assertThat(empty.maintainabilityIndex()).isEqualTo(100);
    assertThat(empty.totalLines()).isZero();
    assertThat(empty.commentRatio()).isZero();
    assertThat(Quality.of(Program.of("def f(:\n  )]\n")).totalLines()).isEqualTo(2);
  }

  @Test
  void metricNamesEqualThoseOfResultFiles() {
    assertThat(Quality.of(Program.of("x = 1")).figures().keySet())
        .containsExactly(
            "avg_complexity",
            "max_complexity",
            "maintainability_index",
            "total_lines",
            "code_lines",
            "comment_lines",
            "comment_ratio");
  }
}

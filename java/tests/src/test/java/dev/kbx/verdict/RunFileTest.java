package dev.kbx.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RunFileTest {
  private static final String PIECES = "level_problem_sample_kernel.py0123456789-+ \n/\u0660\ud800";

  @Test
  void nameHasLevelProblemAndSample() {
    assertThat(RunFile.parse("level_1_problem_19_sample_0_kernel.py"))
        .contains(new RunFile(new TaskNumber(1, 19), 0));
    assertThat(RunFile.parse("level_3_problem_50_sample_999999999_kernel.py"))
        .contains(new RunFile(new TaskNumber(3, 50), 999_999_999));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "19_ReLU.py",
        "level_1_problem_19_sample_0_prompt.txt",
        "level_1_problem_19_sample_0_kernel",
        "level_1_problem_19_sample_0_kernel.py\n",
        "level_1_problem_19_sample_0_kernel.pyc",
        "level_1_problem_19_sample__kernel.py",
        "level_1_problem_19_sample_-1_kernel.py",
        "level_1_problem_019_sample_0_kernel.py",
        "level_1_problem_19_sample_1000000000_kernel.py",
        "level_1_problem_19_sample_\u0660_kernel.py",
        "runs/level_1_problem_19_sample_0_kernel.py",
        "my_level_1_problem_19_sample_0_kernel.py",
      })
  void otherNamesAreRefused(String name) {
    assertThat(RunFile.parse(name)).isEmpty();
  }

  static IntStream seeds() {
    return IntStream.range(0, 20);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void formattedNamesAreParsed(int seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 1_000; i++) {
      int bound = 1 << (1 + random.nextInt(29));
      TaskNumber task = new TaskNumber(random.nextInt(bound), random.nextInt(bound));
      RunFile file = new RunFile(task, random.nextInt(bound));
      assertThat(RunFile.parse(file.name())).contains(file);
    }
  }

  /** Any text is read or refused, and what is read is written as it was. */
  @ParameterizedTest
  @MethodSource("seeds")
  void parsedNamesAreFormattedUnchanged(int seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 5_000; i++) {
      String name = random.nextInt(10) == 0 ? text(random) : changed(random);
      RunFile.parse(name).ifPresent(file -> assertThat(file.name()).isEqualTo(name));
    }
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(60); i > 0; i--) text.append((char) random.nextInt(1 << 16));
    return text.toString();
  }

  private static String changed(Random random) {
    StringBuilder name = new StringBuilder("level_1_problem_19_sample_10_kernel.py");
    for (int i = random.nextInt(4); i > 0; i--) {
      int at = random.nextInt(name.length());
      char piece = PIECES.charAt(random.nextInt(PIECES.length()));
      switch (random.nextInt(3)) {
        case 0 -> name.setCharAt(at, piece);
        case 1 -> name.insert(at, piece);
        default -> name.deleteCharAt(at);
      }
    }
    return name.toString();
  }
}

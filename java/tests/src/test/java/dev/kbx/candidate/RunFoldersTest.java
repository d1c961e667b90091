package dev.kbx.candidate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.task.BrokenTask;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** KernelBench's run folders as candidates. */
class RunFoldersTest {
  private static final Suite SUITE =
      new Suite(
          "kernelbench",
          Path.of("tasks"),
          List.of(
              task("level1", "1_Square"),
              task("level1", "19_ReLU"),
              task("level2", "1_Conv"),
              task("extra", "1_Other")),
          List.of(new BrokenTask("level2", "7_Gemm", Path.of("7_Gemm.py"), 3, "has no statement")));

  @TempDir private Path dir;

  private static Task task(String category, String name) {
    return new Task(
        "kernelbench",
        category,
        name,
        Task.MODULE,
        "ModelNew()",
        null,
        null,
        List.of(),
        false,
        "x",
        "",
        List.of(),
        null,
        Path.of("f"),
        null);
  }

  private Path write(String name, String text) throws IOException {
    Path file = dir.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text);
  }

  private Reading read(Path... sources) {
    return CandidateSources.read(List.of(sources), SUITE);
  }

  private static List<String> found(Reading reading) {
    return reading.candidates().stream()
        .map(c -> c.task().path() + " " + c.sample() + " " + c.code())
        .toList();
  }

  @Test
  void allSamplesOfAllLevelsAreRead() throws IOException {
    write("run/level_1_problem_19_sample_0_kernel.py", "a");
    write("run/level_1_problem_19_sample_4_kernel.py", "b");
    write("run/level_1_problem_1_sample_10_kernel.py", "c");
    write("run/level_2_problem_1_sample_0_kernel.py", "d");
    write("run/level_1_problem_19_sample_0_prompt.txt", "no");
    write("run/generation_config.yaml", "no");
    write("run/eval_results.json", "{}");
    Reading reading = read(dir.resolve("run"));
    assertThat(reading.problems()).isEmpty();
    assertThat(found(reading))
        .containsExactly(
            "level1/19_ReLU 0 a",
            "level1/19_ReLU 4 b",
            "level1/1_Square 10 c",
            "level2/1_Conv 0 d");
    assertThat(reading.candidates()).allMatch(c -> c.method() == null && c.model() == null);
  }

  @Test
  void singleRunFileIsRead() throws IOException {
    Path file = write("level_2_problem_1_sample_3_kernel.py", "x");
    assertThat(found(read(file))).containsExactly("level2/1_Conv 3 x");
  }

  @Test
  void statedSampleNumberIsKept() throws IOException {
    write("19_ReLU.py", "a");
    write("level_1_problem_19_sample_0_kernel.py", "b");
    write("level_1_problem_19_sample_5_kernel.py", "c");
    write(
        "p.jsonl",
        """
        {"file": "19_ReLU.py", "predict": "d"}
        {"file": "level_1_problem_19_sample_8_kernel.py", "predict": "e"}
        {"file": "level_1_problem_19_sample_8_kernel.py", "predict": "f", "sample": 9}
        """);
    Reading reading = read(dir);
    assertThat(reading.problems()).isEmpty();
    assertThat(found(reading))
        .containsExactly(
            "level1/19_ReLU 1 a",
            "level1/19_ReLU 0 b",
            "level1/19_ReLU 5 c",
            "level1/19_ReLU 2 d",
            "level1/19_ReLU 8 e",
            "level1/19_ReLU 9 f");
  }

  @Test
  void unusableFilesAreReportedAndTheRestIsRead() throws IOException {
    Path problem = write("level_1_problem_20_sample_0_kernel.py", "x");
    Path noText = dir.resolve("level_1_problem_19_sample_1_kernel.py");
    Files.write(noText, new byte[] {'x', (byte) 0xff});
    Path broken = write("level_2_problem_7_sample_0_kernel.py", "x");
    Path level = write("level_4_problem_1_sample_0_kernel.py", "x");
    Path huge = write("level_99999999999_problem_1_sample_0_kernel.py", "x");
    write("level_1_problem_19_sample_0_kernel.py", "good");
    Reading reading = read(dir);
    assertThat(found(reading)).containsExactly("level1/19_ReLU 0 good");
    assertThat(reading.problems())
        .extracting(Problem::toString)
        .containsExactly(
            noText + ":1: is not UTF-8 at byte 1; save it as UTF-8",
            problem + ": level 1 of suite kernelbench has no problem 20; it has 1 and 19",
            broken + ": task '7_Gemm' cannot be used: 7_Gemm.py:3: has no statement",
            level + ": suite kernelbench has no level 4; it has 1, 2",
            huge
                + ": no task and no run file is called"
                + " 'level_99999999999_problem_1_sample_0_kernel'; a run file is called"
                + " level_L_problem_P_sample_S_kernel.py, numbers without leading zeros");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "level_1_problem_19_sample_0.py",
        "level_1_problem_019_sample_0_kernel.py",
        "level_1_problem_19_sample_x_kernel.py",
        "LEVEL_1_problem_19_sample_0_kernel.py",
        "level1_problem19.py",
      })
  void misnamedRunFileIsReportedWithTheExpectedForm(String name) throws IOException {
    Path file = write(name, "x");
    assertThat(read(file).problems())
        .extracting(Problem::toString)
        .containsExactly(
            file
                + ": no task and no run file is called '%s'; a run file is called"
                    .formatted(name.substring(0, name.length() - 3))
                + " level_L_problem_P_sample_S_kernel.py, numbers without leading zeros");
  }

  @Test
  void unknownProblemIsReportedWithTheKnownProblems() throws IOException {
    Path file = write("level_1_problem_9_sample_0_kernel.py", "x");
    assertThat(without9(file, 19)).endsWith("no problem 9; it has 19");
    assertThat(without9(file, 19, 23, 40)).endsWith("no problem 9; it has 19, 23 and 40");
    assertThat(without9(file, 1, 2, 3, 4, 5, 6, 7, 8)).endsWith("no problem 9; it has 1 to 8");
    assertThat(without9(file, 1, 2, 3, 4, 5, 6, 7, 80))
        .endsWith("no problem 9; it has 8, between 1 and 80");
  }

  private static String without9(Path file, int... numbers) {
    List<Task> tasks =
        IntStream.of(numbers).mapToObj(number -> task("level1", number + "_Task")).toList();
    Suite suite = new Suite("kernelbench", Path.of("tasks"), tasks, List.of());
    return CandidateSources.read(List.of(file), suite).problems().getFirst().message();
  }

  @Test
  void rowsMayNameLevelAndProblem() throws IOException {
    Path file =
        write(
            "p.jsonl",
            """
            {"level": 1, "problem_id": 19, "predict": "a"}
            {"level": 1, "problem_id": 19, "sample_id": 0, "predict": "b"}
            {"level": 1, "problem_id": 1, "file": "19_ReLU.py", "sample": 7, "predict": "c"}
            {"level": 3, "problem_id": 1, "predict": "d"}
            {"task": "19_ReLU", "predict": "e"}
            """);
    Reading reading = read(file);
    assertThat(found(reading))
        .containsExactly("level1/19_ReLU 1 a", "level1/19_ReLU 0 b", "level1/19_ReLU 7 c");
    assertThat(reading.problems())
        .containsExactly(
            new Problem(file.toString(), 4, "suite kernelbench has no level 3; it has 1, 2"),
            new Problem(
                file.toString(),
                5,
                "names no task; give it \"level\" and \"problem_id\", or \"file\" such as"
                    + " \"level1/1_Square.py\""));
  }

  @Test
  void runFileInASuiteWithoutLevelsNamesTheRightSuite() throws IOException {
    Path file = write("level_1_problem_19_sample_0_kernel.py", "x");
    Suite suite =
        new Suite("kernelbenchx", Path.of("tasks"), List.of(task("Math", "exp")), List.of());
    Reading reading = CandidateSources.read(List.of(file), suite);
    assertThat(reading.problems())
        .containsExactly(
            new Problem(
                file.toString(),
                null,
                "is for the suite kernelbench, and this run judges kernelbenchx; give it --suite"
                    + " kernelbench"));
    write("level_1_problem_2_sample_0_kernel.py", "x");
    write("p.jsonl", "{\"level\": 1, \"problem_id\": 3, \"predict\": \"x\"}");
    write("nosuch.py", "x");
    assertThat(CandidateSources.read(List.of(dir), suite).problems())
        .extracting(Problem::toString)
        .containsExactly(
            file
                + ": is for the suite kernelbench, as are 2 more, and this run judges"
                + " kernelbenchx; give it --suite kernelbench",
            dir.resolve("nosuch.py")
                + ": no task 'nosuch' in suite kernelbenchx; `kbx tasks list` shows all; to judge"
                + " it by a PyTorch file of your own, give --reference FILE");
  }

  @Test
  void unselectedTasksAreSkipped() throws IOException {
    write("level_1_problem_19_sample_0_kernel.py", "x");
    write("level_2_problem_1_sample_0_kernel.py", "y");
    Reading reading = CandidateSources.read(List.of(dir), SUITE, SUITE.find("level2/*"));
    assertThat(found(reading)).containsExactly("level2/1_Conv 0 y");
    assertThat(reading.problems()).isEmpty();
    assertThat(reading.unselected()).isEqualTo(1);
  }
}

package dev.kbx.candidate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.TaskVerdict;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class CandidateSourcesTest {
  private static final Suite SUITE =
      new Suite(
          "mini",
          Path.of("tasks"),
          List.of(
              task("Activation", "gelu", "gelu"),
              task("LinearAlgebra", "svd", "svd"),
              task("Optimizer", "AdamW", "adamw_step")),
          List.of());

  @TempDir Path dir;

  private static Task task(String category, String name, String entry) {
    return new Task(
        "mini",
        category,
        name,
        entry,
        entry + "(x)",
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

  @Test
  void readsPredictions() throws IOException {
    Path file =
        write(
            "p.jsonl",
            """
            {"file": "Activation/gelu.py", "predict": "```python\\ndef gelu(x): pass\\n```"}

            {"file": "gelu", "predict": "", "method": "sample", "model": "m", "round": 2}
            {"file": "x/LinearAlgebra/svd.py", "predict": null, "method": null, "sample": null}
            {"file": "Activation/gelu.py", "predict": "def gelu(x): return x", "extra": [1]}
            {"file": "Activation/gelu.py", "predict": "x", "sample": 7}
            """);
    Reading reading = read(file);
    assertThat(reading.problems()).isEmpty();
    assertThat(reading.candidates())
        .extracting(Candidate::origin)
        .containsExactly(file + ":1", file + ":3", file + ":4", file + ":5", file + ":6");
    assertThat(reading.candidates()).extracting(Candidate::sample).containsExactly(0, 0, 0, 1, 7);
    assertThat(reading.candidates().getFirst().code()).isEqualTo("def gelu(x): pass\n");
    Candidate second = reading.candidates().get(1);
    assertThat(second.code()).isEmpty();
    assertThat(second.method()).isEqualTo("sample");
    assertThat(second.model()).isEqualTo("m");
    assertThat(second.round()).isEqualTo(2);
  }

  @Test
  void readsConditionsOfPredictions() throws IOException {
    Path file =
        write(
            "p.jsonl",
            """
            {"file": "gelu", "predict": "", "conditions": {"hardware": true, "shots": "one", "turns": 3}}
            {"file": "gelu", "predict": "", "conditions": null}
            {"file": "gelu", "predict": "", "conditions": {"shots": ["one"]}}
            """);
    Reading reading = read(file);
    assertThat(reading.candidates())
        .extracting(Candidate::conditions)
        .containsExactly(Map.of("hardware", "true", "shots", "one", "turns", "3"), Map.of());
    assertThat(reading.candidates().getFirst().provenance("r").conditions())
        .containsEntry("turns", "3");
    assertThat(reading.problems())
        .singleElement()
        .satisfies(problem -> {
          assertThat(problem.line()).isEqualTo(3);
          assertThat(problem.message()).contains("\"conditions\"", "should be an object");
        });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "instruction | gelu(input, approximate='none') -> Tensor | gelu",
        "prompt | def linalg.svd(A, full_matrices=True) -> (Tensor) | svd",
        "query | torch.linalg.svd(A): uses gelu(x) | svd",
        "instruction | def AdamW(params, lr=1e-3) | AdamW",
        "instruction | adamw_step(param) | AdamW",
        "instruction | input (Tensor): the input; wraps gelu(input) | gelu",
      })
  void matchesPrompts(String key, String wrapper, String name) throws IOException {
    Path file =
        write(
            "p.jsonl",
            """
            {"%s": "Write svd(x).\\nFunctional Description: like svd(x).\\nWrapper Entry Information: %s", "predict": ""}
            """
                .formatted(key, wrapper));
    Reading reading = read(file);
    assertThat(reading.candidates()).extracting(c -> c.task().name()).containsExactly(name);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"file\": \"gelv.py\", \"predict\": \"\"} | no task 'gelv' in suite mini; did you mean"
            + " gelu?",
        "{\"file\": \"gelu.py\"} | has no \"predict\"; it should hold the answer as a string",
        "{\"file\": \"gelu.py\", \"predict\": 3} | has no \"predict\"; it should hold the answer as"
            + " a string",
        "{\"predict\": \"\"} | names no task; give it \"file\": \"Category/task.py\"",
        "{\"prompt\": \"gelu\", \"predict\": \"\"} | has no \"file\", and its prompt lacks"
            + " 'Functional Description:' or 'Wrapper Entry Information:'; give it \"file\":"
            + " \"Category/task.py\"",
        "{\"file\": \"gelu\", \"predict\": \"\", \"method\": 5} | has \"method\": 5; it should be a"
            + " string",
        "{\"file\": \"gelu\", \"predict\": \"\", \"model\": [\"m\"]} | has \"model\": [\"m\"]; it"
            + " should be a string",
        "{\"file\": \"gelu\", \"predict\": \"\", \"round\": \"x\"} | has \"round\": \"x\"; it"
            + " should be a whole number from 0",
        "{\"file\": \"gelu\", \"predict\": \"\", \"sample\": -3} | has \"sample\": -3; it should be"
            + " a whole number from 0",
        "[1] | is no JSON object; each line should hold one",
        "{\"file\": \"gelu.py\", \"pre | is no JSON at column 25; is the line cut off?",
        "{} {} | is no JSON at column 4; is the line cut off?",
        "{\"file\": \"gelu\", \"predict\": \"a\", \"predict\": \"b\"} | has \"predict\" twice;"
            + " which one counts?",
      })
  void reportsUnusableRowsAndReadsTheRest(String row, String message) throws IOException {
    String good = "{\"file\": \"gelu.py\", \"predict\": \"x\"}\n";
    Path file = write("p.jsonl", good + row + "\n" + good);
    Reading reading = read(file);
    assertThat(reading.candidates()).hasSize(2);
    assertThat(reading.problems()).containsExactly(new Problem(file.toString(), 2, message));
  }

  @Test
  void aFileOfSomethingElseHasOneProblem() throws IOException {
    Path few = write("few.jsonl", "{\"file\": \"gelu.py\"}\n".repeat(5));
    assertThat(read(few).problems()).hasSize(5);
    Path many = write("ledger.jsonl", "{\"file\": \"gelu.py\"}\n".repeat(1_200));
    String each =
        "holds no predictions: each of 1,200 lines has no \"predict\"; it should hold the answer as"
            + " a string";
    assertThat(read(many).problems()).containsExactly(new Problem(many.toString(), null, each));
  }

  @Test
  void rowsWithNaNAreRead() throws IOException {
    String row = "{\"file\": \"gelu.py\", \"predict\": \"x\", \"loss\": [NaN, -Infinity]}";
    Reading reading = read(write("p.jsonl", row));
    assertThat(reading.problems()).isEmpty();
    assertThat(reading.candidates().getFirst().held().code()).isEqualTo("x");
  }

  @Test
  void reportsBytesThatAreNotUtf8() throws IOException {
    Path file = dir.resolve("p.jsonl");
    String good = "{\"file\": \"gelu.py\", \"predict\": \"ü\"}\r\n";
    Files.write(file, (good + "a\u00fe\n" + good).getBytes(StandardCharsets.UTF_8));
    byte[] bytes = Files.readAllBytes(file);
    int at = good.getBytes(StandardCharsets.UTF_8).length + 1;
    bytes[at] = (byte) 0xff;
    Files.write(file, bytes);
    Reading reading = read(file);
    assertThat(reading.candidates()).hasSize(2);
    assertThat(reading.problems())
        .containsExactly(
            new Problem(
                file.toString(),
                2,
                "is not UTF-8 at byte " + at + " of the file; save it as UTF-8"));
  }

  /** The test's JVM has a heap that a careless reader of this file would fill. */
  @Test
  void hugePredictionDoesNotStopTheNextRows() throws IOException {
    Path file = dir.resolve("p.jsonl");
    String row = "{\"file\": \"gelu.py\", \"predict\": \"%s\"}\n";
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      out.write(row.formatted("x"));
      out.write("{\"file\": \"gelu.py\", \"predict\": \"");
      for (int i = 0; i < 50; i++) out.write("y".repeat(1_000_000));
      out.write("\"}\n");
      out.write(row.formatted("z".repeat(CandidateSources.MAX_CODE)));
      out.write(row.formatted("z".repeat(CandidateSources.MAX_CODE + 1)));
      out.write(row.formatted("x"));
    }
    Reading reading = read(file);
    assertThat(reading.candidates())
        .extracting(Candidate::origin)
        .containsExactly(file + ":1", file + ":3", file + ":5");
    assertThat(reading.problems())
        .extracting(Problem::message)
        .containsExactly(
            "is too long (50000034 bytes); a prediction may have 1 MiB",
            "has a prediction of 1048577 bytes; the limit is 1 MiB");
  }

  @Test
  void readsPythonFiles() throws IOException {
    String tests = "#".repeat(146) + "\nimport torch\n";
    Path file = write("deep/gelu.py", "\ufeffdef gelu(x): pass\n" + "#".repeat(145) + "\n" + tests);
    Candidate candidate = read(file).candidates().getFirst();
    assertThat(candidate.code()).isEqualTo("def gelu(x): pass\n" + "#".repeat(145) + "\n");
    assertThat(candidate.origin()).isEqualTo(file.toString());
  }

  @Test
  void readsFolders() throws IOException {
    write("b/gelu.py", "b");
    write("a/Activation/gelu.py", "a");
    write("a/p.jsonl", "{\"file\": \"svd.py\", \"predict\": \"x\"}");
    for (String ignored :
        List.of(
            ".git/gelu.py",
            "__pycache__/gelu.py",
            "__init__.py",
            "p.json",
            "notes.md",
            "._gelu.py")) {
      write("a/" + ignored, "no");
    }
    Files.createSymbolicLink(dir.resolve("a/loop"), dir);
    Files.createSymbolicLink(dir.resolve("b/svd.py"), dir.resolve("b/gelu.py"));
    Reading reading = read(dir);
    assertThat(reading.problems()).isEmpty();
    assertThat(reading.candidates())
        .extracting(c -> dir.relativize(Path.of(c.origin())) + " " + c.task().name() + c.sample())
        .containsExactly(
            "a/Activation/gelu.py gelu0", "a/p.jsonl:1 svd0", "b/gelu.py gelu1", "b/svd.py svd1");
  }

  @Test
  void keepsPathsAsGiven() throws IOException {
    write("b/gelu.py", "b");
    Path given = dir.resolve("b/../b");
    assertThat(read(given).candidates().getFirst().origin()).isEqualTo(given + "/gelu.py");
  }

  @Test
  void readsAFileOnce() throws IOException {
    Path file = write("b/gelu.py", "b");
    assertThat(read(file, dir, dir.resolve("b")).candidates()).hasSize(1);
  }

  @Test
  void foldersOfAnotherSuiteAreSkipped() throws IOException {
    write("runs/gelu.py", "x");
    write("runs/other/SUITE", "other\n");
    write("runs/other/deep/1_Product.py", "x");
    write("runs/mine/SUITE", "mini");
    write("runs/mine/svd.py", "x");
    Reading reading = read(dir.resolve("runs"));
    assertThat(reading.candidates())
        .extracting(c -> c.task().name())
        .containsExactly("gelu", "svd");
    assertThat(reading.problems()).isEmpty();
    assertThat(read(dir.resolve("runs/other")).problems())
        .extracting(Problem::message)
        .containsExactly("is for the suite other, and this run judges mini; give it --suite other");
  }

  @Test
  void resultFoldersOfKbxAreSkipped() throws IOException {
    TaskVerdict verdict =
        new TaskVerdict("gelu", "mini", "Activation", "gelu.py", null, null, List.of(), 1.0, null);
    Path controls = write("out/controls.jsonl", Json.mapper().writeValueAsString(verdict) + "\n");
    write("begun/results.jsonl", "");
    write("begun/kbx.db", "x");
    String prediction = "{\"file\": \"gelu.py\", \"predict\": \"x\", \"status\": \"done\"}\n";
    Path own = write("mine/results.jsonl", prediction);
    Reading reading = read(dir);
    assertThat(reading.problems()).isEmpty();
    assertThat(reading.candidates()).extracting(Candidate::origin).containsExactly(own + ":1");
    assertThat(read(controls).problems())
        .extracting(Problem::message)
        .containsExactly("holds kbx's results, no predictions; give what was judged there");
    Path empty = write("other/results.jsonl", "");
    assertThat(read(empty).problems()).extracting(Problem::message).asString().contains("is empty");
  }

  @Test
  void danglingLinksAreReported() throws IOException {
    Path folder = Files.createDirectory(dir.resolve("f"));
    Path link = Files.createSymbolicLink(folder.resolve("gelu.py"), dir.resolve("gone.py"));
    Files.createSymbolicLink(folder.resolve("notes.txt"), dir.resolve("gone.txt"));
    Files.createSymbolicLink(folder.resolve(".#svd.py"), dir.resolve("gone.py"));
    assertThat(read(folder).problems())
        .extracting(Problem::toString)
        .containsExactly(link + ": is a link to nothing; mend or remove it");
    Files.createDirectory(folder.resolve("level_1_problem_2_sample_0_kernel.py"));
    assertThat(read(folder).problems())
        .extracting(Problem::message)
        .contains("is a folder with a run file's name; put the kernel's file in its place");
  }

  @Test
  void unselectedTasksAreSkipped() throws IOException {
    write("gelu.py", "x");
    write("svd.py", "x");
    Reading reading = CandidateSources.read(List.of(dir), SUITE, SUITE.find("svd"));
    assertThat(reading.candidates()).extracting(c -> c.task().name()).containsExactly("svd");
    assertThat(reading.unselected()).isEqualTo(1);
    assertThat(reading.problems()).isEmpty();
  }

  @Test
  void reportsUnusableFiles() throws IOException {
    Path latin = dir.resolve("f/gelu.py");
    Files.createDirectories(latin.getParent());
    Files.write(latin, new byte[] {'\n', 'x', (byte) 0xe9});
    Path large = write("g/gelu.py", "x".repeat(CandidateSources.MAX_CODE + 1));
    Path unknown = write("g/gleu.py", "x");
    Path empty = write("e.jsonl", " \n\n");
    Path odd = write("o.json", "{}");
    Path folder = Files.createDirectory(dir.resolve("h"));
    Path none = dir.resolve("none");
    assertThat(read(latin, large, unknown, empty, odd, folder, none).problems())
        .extracting(Problem::toString)
        .containsExactly(
            latin + ":2: is not UTF-8 at byte 2; save it as UTF-8",
            large + ": is larger than 1 MiB, the limit for a candidate",
            unknown
                + ": no task 'gleu' in suite mini; did you mean gelu?; to judge it by a PyTorch"
                + " file of your own, give --reference FILE",
            empty + ": is empty; it should hold a JSON object per line",
            odd + ": is not a candidate; give a task.py, .jsonl predictions, or a folder",
            folder + ": holds no candidates; they are task.py files and .jsonl predictions",
            none + ": does not exist");
  }

  @Test
  void surrogatePairsAreJoined() throws IOException {
    Path file = write("p.jsonl", "{\"file\": \"gelu.py\", \"predict\": \"x = '\\ud800'\"}");
    assertThat(read(file).candidates().getFirst().code()).isEqualTo("x = '\ufffd'");
  }

  static IntStream seeds() {
    return IntStream.range(0, 20);
  }

  /** Whatever happens to a line, it ends as a candidate or a problem, and its neighbours stay. */
  @ParameterizedTest
  @MethodSource("seeds")
  void noLineIsLost(int seed) throws IOException {
    String good = "{\"file\": \"gelu.py\", \"predict\": \"```\\nü = 1\\n```\"}";
    byte[] line = good.getBytes(StandardCharsets.UTF_8);
    Random random = new Random(seed);
    for (int round = 0; round < 20; round++) {
      byte[] bad = java.util.Arrays.copyOf(line, 1 + random.nextInt(line.length));
      for (int i = random.nextInt(4); i > 0; i--) {
        bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
      }
      for (int i = 0; i < bad.length; i++) if (bad[i] == '\n' || bad[i] == ' ') bad[i] = 'n';
      Path file = dir.resolve("p.jsonl");
      try (var out = Files.newOutputStream(file)) {
        out.write(line);
        out.write('\n');
        out.write(bad);
        out.write('\n');
        out.write(line);
      }
      Reading reading = read(file);
      assertThat(reading.candidates().size() + reading.problems().size()).isEqualTo(3);
      assertThat(reading.candidates())
          .extracting(Candidate::origin)
          .contains(file + ":1", file + ":3");
      assertThat(reading.problems()).allMatch(problem -> Integer.valueOf(2).equals(problem.line()));
    }
  }

  @Test
  void sourcesOfPredictionsAreReadLazilyAndOutliveTheirFile() throws IOException {
    String row = "{\"file\": \"gelu.py\", \"predict\": \"def gelu(x): return %d\"}\n";
    // Files that were joined have marks between them.
    Path file = write("p.jsonl", "\ufeff" + row.formatted(0) + "\ufeff" + row.formatted(1));
    List<Candidate> candidates = read(file).candidates();
    Files.delete(file);
    assertThat(candidates)
        .extracting(Candidate::code)
        .containsExactly("def gelu(x): return 0", "def gelu(x): return 1");
  }

  @Test
  void byteOrderMarkBeforePredictedCodeIsRemoved() throws IOException {
    Path file =
        write(
            "p.jsonl",
            "{\"file\": \"gelu.py\", \"predict\": \"\ufeffdef gelu(x): return 0\"}\n"
                + "{\"file\": \"gelu.py\", \"predict\": \"\\ufeffdef gelu(x): return 1\"}\n");
    assertThat(read(file).candidates())
        .extracting(Candidate::code)
        .containsExactly("def gelu(x): return 0", "def gelu(x): return 1");
  }

  @Test
  void predictionThatChangesBeforeItIsReadIsNotJudged() throws IOException {
    String row = "{\"file\": \"gelu.py\", \"predict\": \"def gelu(x): return %d\"}\n";
    Path file = write("p.jsonl", row.formatted(0) + row.formatted(1));
    List<Candidate> candidates = read(file).candidates();
    write("p.jsonl", row.formatted(0) + row.formatted(2));
    assertThat(candidates.getFirst().code()).isEqualTo("def gelu(x): return 0");
    assertThatExceptionOfType(ChangedFile.class)
        .isThrownBy(candidates.getLast()::code)
        .withMessage(
            file + ":2: has changed since the run began; restore the file and go on with --resume");
    write("p.jsonl", "");
    assertThatExceptionOfType(ChangedFile.class).isThrownBy(candidates.getFirst()::held);
  }
}

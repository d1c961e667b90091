package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Bad sources get one clear line and exit code 1; what can be judged is judged. */
class BadInputTest extends RefusedInput {
  @Test
  void missingPath() throws Exception {
    refused(eval("nowhere.jsonl"), "nowhere.jsonl");
  }

  @Test
  void missingPathIsRefusedBeforeJudging() throws Exception {
    Path good = file("p.jsonl", GOOD);
    refusedInOneLine(eval(good, "nowhere.py"), "nowhere.py: does not exist");
    refused(eval(good, "nowhere.py", "gone.py"), "nowhere.py", "gone.py", "2 of the sources");
    assertThat(folder.resolve("out")).doesNotExist();
  }

  @Test
  void strictRefusesAFileWithAnUnusableLine() throws Exception {
    Path file = file("p.jsonl", GOOD + "{\"file\": \n");
    refused(
        eval(file, "--strict"), "p.jsonl:2: is no JSON", "--strict: nothing was judged: 1 problem");
    assertThat(folder.resolve("out")).doesNotExist();
  }

  @Test
  void namedPipeIsRefusedAtOnce() throws Exception {
    for (String name : List.of("relu.py", "p.jsonl")) {
      Path pipe = folder.resolve(name);
      assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
      refusedInOneLine(eval(pipe), pipe + ": is not a regular file; give a task.py");
      refusedInOneLine(Kbx.here("check", pipe), pipe + ": is not a regular file; give a task.py");
    }
  }

  @Test
  void wrongSourcesLeaveNothingBehind() throws Exception {
    refused(eval("nowhere.py"), "nowhere.py");
    refused(eval(file("empty.jsonl", "")), "empty.jsonl");
    refused(Kbx.here("eval", "--resume", "--out", folder.resolve("out")), "to resume");
    assertThat(folder.resolve("out")).doesNotExist();
  }

  @Test
  void noSource() throws Exception {
    refused(Kbx.here("eval"), "SOURCE");
  }

  @Test
  void emptyFile() throws Exception {
    refused(eval(file("empty.jsonl", "")), "empty.jsonl", "empty");
  }

  @Test
  void folderWithoutCandidates() throws Exception {
    refused(eval(Files.createDirectory(folder.resolve("nothing"))), "nothing");
  }

  @Test
  void unknownTask() throws Exception {
    Kbx.Result result =
        eval(file("p.jsonl", GOOD + "{\"file\": \"Activation/gelo.py\", \"predict\": \"x\"}\n"));
    assertThat(result.exit()).isZero();
    assertThat(result.err()).contains("p.jsonl:2", "gelo", "gelu");
    assertThat(Files.readAllLines(folder.resolve("out/results.jsonl"))).hasSize(1);
  }

  @Test
  void skippedSourcesAreRepeatedAtTheEnd() throws Exception {
    Path kernels = Files.createDirectory(folder.resolve("kernels"));
    Files.writeString(kernels.resolve("gelu.py"), "def gelu(input): return input\n");
    Files.write(kernels.resolve("tanh.py"), new byte[] {(byte) 0xff});
    Path out = folder.resolve("out");
    Kbx.Result judged = eval(kernels);
    assertThat(judged.exit()).as("a file could not be read").isEqualTo(1);
    assertThat(Files.readAllLines(out.resolve("results.jsonl"))).hasSize(1);
    assertThat(judged.err())
        .endsWith(
            "kbx: 1 problem with the sources (named above, all in " + out + "/summary.json)\n");
    assertThat(Files.readString(out.resolve("summary.json"))).contains("tanh.py:1: is not UTF-8");
    for (int i = 0; i < 30; i++) Files.writeString(kernels.resolve("nosuch%d.py".formatted(i)), "");
    assertThat(eval(kernels).err())
        .contains("31 problems with the sources (the first 20 are named above, all in ");
    Files.delete(kernels.resolve("tanh.py"));
    assertThat(eval(kernels.resolve("gelu.py")).err()).doesNotContain("problem");
  }

  @Test
  void tasksWithoutACandidate() throws Exception {
    Path file = file("gelu.py", "x = 1\n");
    refusedInOneLine(
        eval(file, "--tasks", "tanh"),
        "--tasks tanh: leaves out all that is in %s, 1 candidate; select their tasks"
            .formatted(file));
  }

  @Test
  void folderOfUnreadableFilesIsNotCalledEmpty() throws Exception {
    Path broken = Files.createDirectory(folder.resolve("broken"));
    Path link = Files.createSymbolicLink(broken.resolve("gelu.py"), folder.resolve("gone"));
    refusedInOneLine(alone(broken), link + ": is a link to nothing; mend or remove it");
  }

  @Test
  void invalidUtf8InOneLine() throws Exception {
    Path file = folder.resolve("p.jsonl");
    Files.write(file, GOOD.getBytes(StandardCharsets.UTF_8));
    Files.write(
        file,
        new byte[] {'{', '"', (byte) 0xff, (byte) 0xfe, '"', '}', '\n'},
        java.nio.file.StandardOpenOption.APPEND);
    Kbx.Result result = eval(file);
    assertThat(result.exit()).isZero();
    assertThat(result.err()).contains("p.jsonl:2", "UTF-8");
  }

  @Test
  void aPredictionOfFiftyMegabytes() throws Exception {
    String huge =
        "{\"file\": \"Activation/gelu.py\", \"predict\": \"" + "x".repeat(50 << 20) + "\"}\n";
    // A process of its own: its heap is no larger than a user's.
    Kbx.Result result = Kbx.run(folder, arguments(file("p.jsonl", huge + GOOD)));
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.err()).contains("p.jsonl:1", "MiB");
    assertThat(Files.readAllLines(folder.resolve("out/results.jsonl"))).hasSize(1);
  }

  @Test
  void controlCharactersInNamesAreEscaped() throws Exception {
    Path named = Files.createDirectories(folder.resolve("\u001b[2Jgone"));
    Path file =
        Files.copy(Kbx.home().resolve("corpus/honest/plain/gelu.py"), named.resolve("gelu.py"));
    Kbx.Result result =
        Kbx.here("eval", file, "--stages", "static", "--out", folder.resolve("out"));
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.err()).contains("[1/1] correct  Activation/gelu", "[2Jgone/gelu.py");
    assertThat(result.err() + result.out()).doesNotContain("\u001b");
  }

  @Test
  void anEmptyCandidate() throws Exception {
    Path file = file("gelu.py", "");
    String words = "the answer holds no Python source";
    assertThat(eval(file, "--json").json().get("verdicts").get(0).get("message").asString())
        .isEqualTo(words);
    assertThat(Kbx.here("check", file).out()).contains(words);
  }
}

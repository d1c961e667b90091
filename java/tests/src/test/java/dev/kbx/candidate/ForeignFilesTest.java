package dev.kbx.candidate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kbx.Bundled;
import dev.kbx.task.Suite;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/** Files of other systems that write kernels in rounds. */
class ForeignFilesTest {
  private static final Suite SUITE = Bundled.suite("kernelbenchx");
  private static final String SEPARATOR = "#".repeat(146);

  @TempDir private Path folder;

  private Reading read() {
    return CandidateSources.read(List.of(folder), SUITE);
  }

  private Path write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text);
  }

  private static String kernel(String entry, int value) {
    return "def %s(x):\n    return %d\n".formatted(entry, value);
  }

  private static String transition(String task, int from, String before, String after) {
    ObjectNode row = Json.mapper().createObjectNode();
    row.put("task_id", task).put("transition", "round_%d_to_round_%d".formatted(from, from + 1));
    row.put("from_round", "round_" + from).put("to_round", "round_" + (from + 1));
    row.put("kind", "regression_exe").put("before_code", before).put("after_code", after);
    return Json.mapper().writeValueAsString(row) + "\n";
  }

  @Test
  void theIterationCorpusHasAKernelForEachRound() throws Exception {
    String tests = SEPARATOR + "\n\nimport torch\ntest_results = gelu(1)\n";
    write(
        "corpus.jsonl",
        transition("Activation/gelu.py", 0, kernel("gelu", 0) + tests, kernel("gelu", 1) + tests)
            + transition("Activation/gelu.py", 1, kernel("gelu", 1), kernel("gelu", 2))
            + transition("Math/abs.py", 0, kernel("abs", 0), "")
            + transition("Math/nothing.py", 0, "a", "b"));
    Reading reading = read();
    assertThat(reading.candidates())
        .extracting(c -> c.task().path(), Candidate::round, Candidate::sample, Candidate::code)
        .containsExactly(
            tuple("Activation/gelu", 0, 0, kernel("gelu", 0)),
            tuple("Activation/gelu", 1, 0, kernel("gelu", 1)),
            tuple("Activation/gelu", 2, 0, kernel("gelu", 2)),
            tuple("Math/abs", 0, 0, kernel("abs", 0)));
    assertThat(reading.problems()).hasSize(1);
    assertThat(reading.problems().getFirst().toString()).contains("corpus.jsonl:4: ");
  }

  @Test
  void geakFilesHaveTaskAndRound() throws Exception {
    for (int round : List.of(0, 2)) {
      ObjectNode row = Json.mapper().createObjectNode();
      row.put("instruction", "Write it.").put("label", "def gelu(x): ...");
      row.put("filename", "gelu.py").put("predict", kernel("gelu", round));
      write("results_%d.jsonl".formatted(round), Json.mapper().writeValueAsString(row) + "\n");
    }
    ObjectNode other = Json.mapper().createObjectNode();
    other.put("instruction", "Functional Description: x\nWrapper Entry Information: tanh(x)");
    other.put("filename", "some_kernel.py").put("predict", kernel("tanh", 7));
    write("other_1.jsonl", Json.mapper().writeValueAsString(other) + "\n");
    Reading reading = read();
    assertThat(reading.problems()).isEmpty();
    assertThat(reading.candidates())
        .extracting(c -> c.task().name(), Candidate::round, Candidate::code)
        .containsExactly(
            tuple("tanh", 1, kernel("tanh", 7)),
            tuple("gelu", 0, kernel("gelu", 0)),
            tuple("gelu", 2, kernel("gelu", 2)));
  }

  private void session(String name, String problem) throws IOException {
    write(name + "/problem.txt", problem);
    write(name + "/test_0.py", "from kernel import kernel_function\n");
    write(name + "/seed_0.py", kernel("kernel_function", 0));
    write(name + "/final_kernel.py", kernel("kernel_function", 9));
    write(name + "/result.json", "{}");
    for (int worker = 0; worker < 2; worker++) {
      ObjectNode round = Json.mapper().createObjectNode();
      round.put("round", 1).put("success", false);
      round.put("kernel_code", kernel("kernel_function", 10 + worker));
      write(
          "%s/workers/worker_%d/round_1.json".formatted(name, worker),
          Json.mapper().writeValueAsString(round));
    }
  }

  @Test
  void kernelAgentSessionsAreRead() throws Exception {
    session("tanh/session_20260101", "Make it fast.");
    session(
        "session_20260102", "Functional Description: x\nWrapper Entry Information: gelu(input)");
    session("unknown/session_20260103", "Make it fast.");
    write("unknown/session_20260102/other.txt", "");
    write("relu.py", kernel("relu", 3));
    Reading reading = read();
    assertThat(reading.candidates())
        .extracting(c -> c.task().name(), Candidate::method, Candidate::round, Candidate::sample)
        .containsExactly(
            tuple("gelu", "kernelagent", 1, 0),
            tuple("gelu", "kernelagent", 1, 1),
            tuple("gelu", "kernelagent", null, 0),
            tuple("tanh", "kernelagent", 1, 0),
            tuple("tanh", "kernelagent", 1, 1),
            tuple("tanh", "kernelagent", null, 0),
            tuple("relu", null, null, 0));
    assertThat(reading.problems()).hasSize(1);
    assertThat(reading.problems().getFirst().toString())
        .contains("session_20260103: its problem.txt names no task; put the session into a folder");
  }

  @Test
  void singleSessionWithABrokenRoundIsRead() throws Exception {
    session("tanh/session_1", "Make it fast.");
    Path broken = write("tanh/session_1/workers/worker_0/round_2.json", "{\"kernel_");
    write("tanh/session_1/workers/worker_0/round_3.json", "{\"stdout\": \"\"}");
    Reading reading = CandidateSources.read(List.of(folder.resolve("tanh/session_1")), SUITE);
    assertThat(reading.candidates()).hasSize(3);
    assertThat(reading.problems()).hasSize(2);
    assertThat(reading.problems().getFirst().toString())
        .isEqualTo(broken + ": is no JSON; is the file cut off?");
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Candidates that ask for what this machine lacks, or break kbx's account, stay in the rates. */
class ProvokedFailuresTest {
  private static final Path CORPUS = Kbx.home().resolve("corpus");

  @TempDir private Path folder;

  /** Four of these five were left out of pass@1 once, which was 100 % then. */
  @Test
  void oneRightOfFiveIsTwentyPercent() throws Exception {
    String right = Files.readString(CORPUS.resolve("honest/checked_by_torch/cos.py"));
    String graph = Files.readString(CORPUS.resolve("cheats/graph_touched/cos.py"));
    String unaccounted = Files.readString(CORPUS.resolve("cheats/allocation_replaced/cos.py"));
    String library = right.replace("BLOCK=1024)", "BLOCK=1024, extern_libs={'mine': 'mine.bc'})");
    String extension =
        "from torch.utils.cpp_extension import load_inline\n"
            + right.replace(
                "    x = input", "    load_inline('a', '', '__device__ int a;')\n    x = input");
    List<String> lines = new ArrayList<>();
    for (String source : List.of(right, graph, unaccounted, library, extension)) {
      lines.add(
          JsonMapper.shared()
              .createObjectNode()
              .put("file", "Math/cos.py")
              .put("predict", source)
              .toString());
    }
    Path predictions = Files.write(folder.resolve("five.jsonl"), lines);
    Path out = folder.resolve("out");
    Kbx.Result judged =
        Kbx.here(
            "eval",
            predictions,
            "--device",
            "cpu",
            "--stages",
            "compile,call,correct",
            "--json",
            "--out",
            out);
    assertThat(judged.exit()).as(judged.err()).isZero();
    List<String> statuses = new ArrayList<>();
    for (JsonNode verdict : judged.json().get("verdicts")) {
      statuses.add(verdict.get("status").asString());
    }
    assertThat(statuses)
        .containsExactlyInAnyOrder(
            "correct", "wrong_values", "cheating", "runtime_error", "runtime_error");
    JsonNode series = Kbx.here("analyze", "passk", "--out", out, "--json").json().get("series");
    JsonNode at = series.get(0).get("measures").get(1).get("overall").get("at").get(0);
    assertThat(at.get("k").asInt()).isEqualTo(1);
    assertThat(at.get("value").asDouble()).isCloseTo(0.2, within(1e-9));
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Every bundled mistake gets the verdict that {@code corpus/expected.json} says, whoever is judged
 * beside it.
 */
class CorpusTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private static final int LIMIT_SECONDS = 25;

  @TempDir private static Path folder;
  private static Kbx.Result besideCheats;
  private static Kbx.Result alone;

  @BeforeAll
  static void judge() throws Exception {
    besideCheats =
        eval(
            "two",
            2,
            "corpus/cheats/kills_its_parent",
            "corpus/cheats/outliving_child",
            "corpus/cheats/writes_everywhere",
            "corpus/failing",
            "corpus/predictions.jsonl");
    alone = eval("one", 1, failingInTime());
  }

  /** All but the one that waits until its limit, which would do so a second time. */
  private static String[] failingInTime() throws IOException {
    try (Stream<Path> folders = Files.list(Kbx.home().resolve("corpus/failing"))) {
      return folders
          .map(folder -> "corpus/failing/" + folder.getFileName())
          .filter(folder -> !folder.endsWith("/timeout"))
          .sorted()
          .toArray(String[]::new);
    }
  }

  private static Kbx.Result eval(String name, int jobs, String... sources) {
    List<Object> arguments = new ArrayList<>(List.of("eval"));
    arguments.addAll(List.of(sources));
    arguments.addAll(
        List.of(
            "--device",
            "cpu",
            "--jobs",
            jobs,
            "--timeout",
            LIMIT_SECONDS,
            "--json",
            "--out",
            folder.resolve(name)));
    return Kbx.here(arguments.toArray());
  }

  @Test
  void verdictsAreAsExpected() throws Exception {
    assertThat(besideCheats.exit()).as(besideCheats.err()).isEqualTo(0);
    JsonNode expected = JSON.readTree(Files.readString(Kbx.home().resolve("corpus/expected.json")));
    Map<String, String> wanted = new TreeMap<>();
    expected
        .propertyStream()
        .forEach(e -> wanted.put(e.getKey(), e.getValue().get("status").asString()));
    Map<String, String> got = new TreeMap<>();
    for (JsonNode verdict : besideCheats.json().get("verdicts")) {
      String source = verdict.get("source").asString().substring("corpus/".length());
      if (!source.startsWith("cheats/")) got.put(source, verdict.get("status").asString());
    }
    assertThat(got).hasSizeGreaterThanOrEqualTo(20).isEqualTo(wanted);
  }

  @Test
  void verdictsAreIndependentOfConcurrentCheats() {
    Map<String, JsonNode> verdicts = withoutTimes(alone);
    assertThat(verdicts).hasSizeGreaterThanOrEqualTo(15);
    assertThat(withoutTimes(besideCheats))
        .containsAllEntriesOf(verdicts)
        .hasEntrySatisfying("corpus/failing/timeout/relu.py", CorpusTest::isTheLimits);
  }

  /** What it must say, alone or not: nothing but the limit. */
  private static void isTheLimits(JsonNode waiting) {
    assertThat(waiting.get("stage").asString()).isEqualTo("call");
    assertThat(waiting.get("message").asString())
        .endsWith("took longer than %d s".formatted(LIMIT_SECONDS));
  }

  @Test
  void allResultFilesAreWritten() throws Exception {
    Path out = folder.resolve("two");
    int verdicts = besideCheats.json().get("verdicts").size();
    assertThat(Files.readAllLines(out.resolve("results.jsonl"))).hasSize(verdicts);
    for (String file : new String[] {"metrics.json", "summary.json", "report.html", "kbx.db"}) {
      assertThat(out.resolve(file)).isNotEmptyFile();
    }
    assertThat(Files.readString(out.resolve("summary.json"))).contains("not measured");
  }

  /** All verdicts by source, without what depends on the run and with no figure of a clock. */
  private static Map<String, JsonNode> withoutTimes(Kbx.Result result) {
    Map<String, JsonNode> verdicts = new TreeMap<>();
    for (JsonNode verdict : result.json().get("verdicts")) {
      ObjectNode plain = (ObjectNode) verdict.deepCopy();
      plain.remove("run");
      plain.remove("sample");
      plain.remove("seconds");
      plain.remove("output");
      if (plain.get("kernels") != null) {
        plain.get("kernels").forEach(kernel -> ((ObjectNode) kernel).remove("seconds"));
      }
      verdicts.put(verdict.get("source").asString(), plain);
    }
    return verdicts;
  }
}

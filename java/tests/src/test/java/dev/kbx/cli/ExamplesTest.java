package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What a newcomer judges first ends as each file says, and its table fits a screen. */
class ExamplesTest {
  private static final Path EXAMPLES = Kbx.home().resolve("examples");
  private static final Path OWN = EXAMPLES.resolve("own");
  private static final Pattern END = Pattern.compile("Ends as `([a-z_]+)`\\.");

  @TempDir private Path folder;

  private static Map<String, String> expected(Path of, Path... butNot) throws IOException {
    Map<String, String> ends = new TreeMap<>();
    try (Stream<Path> files = Files.walk(of)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".py")).toList()) {
        if (Stream.of(butNot).anyMatch(file::startsWith)) continue;
        Matcher end = END.matcher(Files.readString(file));
        assertThat(end.find()).as("%s says how it ends", file).isTrue();
        ends.put(EXAMPLES.relativize(file).toString(), end.group(1));
      }
    }
    return ends;
  }

  private static Map<String, String> found(Kbx.Result result) {
    Map<String, String> statuses = new TreeMap<>();
    for (JsonNode verdict : result.json().get("verdicts")) {
      statuses.put(
          EXAMPLES.relativize(Path.of(verdict.get("source").asString())).toString(),
          verdict.get("status").asString());
    }
    return statuses;
  }

  @Test
  void examplesHaveTheirExpectedVerdictsOnOneScreen() throws Exception {
    Kbx.Result result =
        Kbx.here(
            "eval",
            EXAMPLES,
            "--device",
            "cpu",
            "--seed",
            Kbx.SEED,
            "--json",
            "--out",
            folder.resolve("kbx-out"));
    Map<String, String> wanted =
        expected(
            EXAMPLES,
            EXAMPLES.resolve("agents"),
            EXAMPLES.resolve("backward"),
            EXAMPLES.resolve("kernelbench"),
            EXAMPLES.resolve("methods"),
            EXAMPLES.resolve("mcp"),
            EXAMPLES.resolve("training"),
            EXAMPLES.resolve("tutorial"),
            EXAMPLES.resolve("versions"),
            OWN);
    wanted.put("two_samples.jsonl:1", "wrong_values");
    wanted.put("two_samples.jsonl:2", "correct");
    assertThat(found(result)).as(result.err()).hasSizeBetween(20, 30).isEqualTo(wanted);
    String run = result.json().get("run").get("id").asString();
    Kbx.Result shown = Kbx.here("runs", "show", run, "--out", folder.resolve("kbx-out"));
    assertThat(shown.out().lines().count()).isLessThanOrEqualTo(40);
  }

  @Test
  void moduleExamplesHaveTheirExpectedVerdicts() throws Exception {
    Path modules = EXAMPLES.resolve("kernelbench");
    Kbx.Result result =
        Kbx.here(
            "eval",
            modules,
            "--suite",
            "kernelbench",
            "--device",
            "cpu",
            "--jobs",
            1,
            "--json",
            "--out",
            folder.resolve("kbx-out"));
    assertThat(found(result)).isEqualTo(expected(modules));
  }

  @Test
  void eachReferenceHasACorrectCandidate() throws Exception {
    for (List<String> pair :
        List.of(
            List.of("rms_norm.py", "rms_norm_ref.py"),
            List.of("rms_norm_backward.py", "rms_norm_ref.py", "--backward"),
            List.of("model_new.py", "model_ref.py"))) {
      Path candidate = OWN.resolve(pair.get(0));
      List<Object> arguments = new ArrayList<>(List.of("eval", candidate));
      arguments.addAll(List.of("--reference", OWN.resolve(pair.get(1))));
      arguments.addAll(pair.subList(2, pair.size()));
      arguments.addAll(List.of("--device", "cpu", "--jobs", 1, "--json"));
      arguments.addAll(List.of("--out", folder.resolve(candidate.getFileName())));
      Kbx.Result result = Kbx.here(arguments.toArray());
      assertThat(result.exit()).as(result.err()).isZero();
      JsonNode verdict = result.json().get("verdicts").get(0);
      assertThat(verdict.get("status").asString()).isEqualTo("correct");
      assertThat(verdict.get("versions").get("witness").asString()).isEqualTo("native");
    }
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.TestPython;
import dev.kbx.app.Kbx;
import dev.kbx.app.Observer;
import dev.kbx.error.InputException;
import dev.kbx.task.UnknownTask;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A Java program judges files as {@code kbx eval} does. */
class JavaApiTest {
  private static final Path HOME = TestPython.home();
  private static final Path RIGHT = HOME.resolve("examples/honest/gelu.py");
  private static final Path WRONG = HOME.resolve("examples/mistakes/tail_left_out/relu.py");

  private static final Pattern CODE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

  @TempDir private Path folder;

  @BeforeAll
  static void havePython() {
    var _ = TestPython.interpreter();
  }

  static String judged(Path home, Path file) throws Exception {
    try (Kbx kbx = Kbx.open(home)) {
      Judgement judgement = kbx.judge(file, "Activation/gelu");
      return judgement.status().label();
    }
  }

  @Test
  void codeOfThePageIsTested() throws Exception {
    Matcher code = CODE.matcher(Files.readString(HOME.resolve("docs/java.md")));
    assertThat(code.find()).isTrue();
    assertThat(
            Files.readString(HOME.resolve("java/tests/src/test/java/dev/kbx/cli/JavaApiTest.java")))
        .contains(code.group(1).indent(2));
    assertThat(judged(HOME, RIGHT)).isEqualTo("correct");
  }

  @Test
  void verdictsEqualThoseOfEval() throws Exception {
    List<String> notes = new ArrayList<>();
    Kbx.Options options =
        new Kbx.Options()
            .python(TestPython.interpreter().executable())
            .device("cpu")
            .jobs(1)
            .seed("tests")
            .observer(
                new Observer() {
                  @Override
                  public void note(String line) {
                    notes.add(line);
                  }
                });
    Path results = folder.resolve("out");
    try (Kbx kbx = Kbx.open(HOME, options)) {
      Judgement right = kbx.judge(RIGHT, "gelu");
      Judgement wrong = kbx.judge(WRONG, "relu");
      assertThat(right.status()).isEqualTo(Status.CORRECT);
      assertThat(wrong.status()).isEqualTo(Status.WRONG_VALUES);
      List<JsonNode> evaluated = evaluated(RIGHT, WRONG);
      assertThat(List.of(deciding(right), deciding(wrong))).isEqualTo(evaluated);
      List<Verdict> stored = kbx.judge(List.of(RIGHT, WRONG), results);
      assertThat(stored.stream().map(verdict -> deciding(verdict.judgement())).toList())
          .isEqualTo(evaluated);
      assertThatThrownBy(() -> kbx.judge(RIGHT, "no_such_task")).isInstanceOf(UnknownTask.class);
      assertThatThrownBy(() -> kbx.judge(folder.resolve("absent.py"), "gelu"))
          .isInstanceOf(InputException.class)
          .hasMessageContaining("absent.py");
    }
    assertThat(results.resolve("results.jsonl")).exists();
    assertThat(notes).isEmpty();
  }

  @Test
  void wrongOptionsAreRefusedAndStaticChecksNeedNoWorkers() throws Exception {
    assertThatThrownBy(() -> Kbx.open(HOME, new Kbx.Options().arch("sm_1")))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("sm_1");
    Path copy = folder.resolve("kernel.py");
    Files.writeString(copy, "import os\n");
    Kbx.Options staticOnly = new Kbx.Options().stages(List.of(Stage.STATIC));
    try (Kbx kbx = Kbx.open(HOME, staticOnly)) {
      assertThat(kbx.judge(copy, "gelu").status()).isNotEqualTo(Status.CORRECT);
    }
  }

  /** What {@code kbx eval --json} says. */
  private List<JsonNode> evaluated(Path... files) {
    List<Object> arguments = new ArrayList<>(List.of("eval"));
    arguments.addAll(List.of(files));
    arguments.addAll(List.of("--device", "cpu", "--jobs", 1, "--seed", "tests", "--json"));
    arguments.addAll(List.of("--out", folder.resolve("eval")));
    JsonNode document = dev.kbx.cli.Kbx.here(arguments.toArray()).json();
    return document.get("verdicts").valueStream().map(JavaApiTest::deciding).toList();
  }

  private static JsonNode deciding(Judgement judgement) {
    return deciding(Json.mapper().<JsonNode>valueToTree(judgement));
  }

  /** The fields that do not differ from judging to judging. */
  private static JsonNode deciding(JsonNode verdict) {
    ObjectNode all = (ObjectNode) verdict.deepCopy();
    return all.retain(
        "status",
        "stage",
        "message",
        "call_ok",
        "exe_ok",
        "published_ok",
        "general_ok",
        "compared_calls",
        "policy",
        "evidence",
        "holds");
  }
}

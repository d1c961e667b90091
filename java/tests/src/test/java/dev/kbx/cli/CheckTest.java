package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** {@code kbx check} as a user runs it. */
class CheckTest {
  private static final String OPEN = "def gelu(x:\n    return x\n";

  @TempDir private Path folder;

  private Kbx.Result check(Object... arguments) throws Exception {
    Object[] all = new Object[arguments.length + 1];
    all[0] = "check";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    return Kbx.run(folder, all);
  }

  private Path file(String name, String content) throws IOException {
    return Files.writeString(folder.resolve(name), content);
  }

  private static void refused(Kbx.Result result, String... words) {
    assertThat(result.exit()).as(result.err()).isEqualTo(1);
    assertThat(result.err()).contains(words).doesNotContain("\tat ");
    assertThat(result.out()).isEmpty();
  }

  @Test
  void honestKernelsHaveNoFindingsWithoutPython() throws Exception {
    Kbx.Result result = Kbx.here("check", Kbx.home().resolve("corpus/honest"), "--strict");
    assertThat(result.exit()).as(result.out() + result.err()).isZero();
    assertThat(result.out()).doesNotContain("broken", "reject", "flag").contains("sources");
  }

  @Test
  void aFileIsCheckedAgainstTheTaskOfItsName() throws Exception {
    file("gelu.py", "def helper(x):\n    return x\n");
    Path other = file("other.py", "def helper(x):\n    return x\n");
    Kbx.Result result = check(".", "--format", "json");
    JsonNode sources = result.json().get("sources");
    assertThat(result.exit()).isZero();
    assertThat(sources.get(0).get("task").asString()).isEqualTo("Activation/gelu");
    assertThat(sources.get(0).at("/broken/status").asString()).isEqualTo("no_entry");
    assertThat(sources.get(1).propertyNames()).containsExactly("file", "findings");
    assertThat(Kbx.here("check", other, "--task", "gelu").out())
        .contains("other.py:1:1: broken: no_entry");
  }

  @Test
  void runFileIsCheckedAgainstTheTaskOfItsName() throws Exception {
    Path named = file("level_2_problem_76_sample_5_kernel.py", "class Model:\n    pass\n");
    Kbx.Result result =
        Kbx.here("check", named, "--suite", "kernelbench", "--format", "json", "--strict");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err()).isEmpty();
    JsonNode source = result.json().at("/sources/0");
    assertThat(source.get("task").asString()).isEqualTo("level2/76_Gemm_Add_ReLU");
    assertThat(source.at("/broken/status").asString()).isEqualTo("no_entry");
    file("level_2_problem_101_sample_0_kernel.py", "x = 1\n");
    file("level_2_problem_076_sample_0_kernel.py", "x = 1\n");
    Kbx.Result all = Kbx.here("check", folder, "--suite", "kernelbench");
    assertThat(all.out()).contains("1 broken in 3 sources");
    assertThat(all.err())
        .contains("level 2 of suite kernelbench has no problem 101; it has 1 to 100")
        .contains("a run file is called level_L_problem_P_sample_S_kernel.py")
        .endsWith("kbx: 2 problems with the sources (named above)\n");
    assertThat(Kbx.here("check", named).err())
        .contains(named + ": is for the suite kernelbench", "give it --suite kernelbench");
  }

  @Test
  void describePrintsFactsInsteadOfFindings() throws Exception {
    Path file =
        file(
            "a.py",
            """
            import triton
            import triton.language as tl


            @triton.jit
            def one(x):
                tl.store(x, tl.load(x))


            def gelu(x):
                one[(1,)](x)
            """);
    JsonNode described = Kbx.here("check", file, "--facts").json().get(0);
    assertThat(described.get("file").asString()).endsWith("a.py");
    assertThat(described.at("/facts/kernels/0/name").asString()).isEqualTo("one");
    assertThat(described.at("/facts/kernels/0/operations/load").asInt()).isEqualTo(1);
    assertThat(described.at("/facts/launches/0/grid").asString()).isEqualTo("(1,)");
    assertThat(described.at("/facts/quality/max_complexity").asInt()).isEqualTo(1);
    assertThat(described.at("/facts/fingerprint/exact").asString()).hasSize(64);
    Path missing = folder.resolve("missing.py");
    refused(Kbx.here("check", missing, "--facts"), "missing.py", "nothing to describe");
  }

  @Test
  void strictFailsWhereASourceIsRefused() throws Exception {
    Path file = file("gelu.py", OPEN);
    assertThat(Kbx.here("check", file).exit()).isZero();
    Kbx.Result strict = Kbx.here("check", file, "--strict");
    assertThat(strict.exit()).isEqualTo(1);
    assertThat(strict.out()).contains("gelu.py:1:9: broken: syntax_error", "1 broken in 1 source");
    assertThat(strict.err()).isEmpty();
  }

  @Test
  void strictFailsWhereASourceCannotBeUsed() throws Exception {
    Path good = file("helper.py", "x = 1\n");
    Path binary = Files.write(folder.resolve("binary.py"), new byte[] {(byte) 0xff});
    assertThat(Kbx.here("check", good, "--strict").exit()).isZero();
    assertThat(Kbx.here("check", good, "nowhere", "--strict").exit()).isEqualTo(1);
    assertThat(Kbx.here("check", good, binary, "--strict").exit()).isEqualTo(1);
  }

  @Test
  void readsStdinAndPredictions() throws Exception {
    file("p.jsonl", "{\"file\": \"Activation/gelu.py\", \"predict\": \"def gelu(x:\"}\n");
    Path errors = folder.resolve("err");
    Process process =
        Kbx.start(folder, java.util.Map.of(), folder.resolve("o"), errors, "check", "-", "p.jsonl");
    process.getOutputStream().write(OPEN.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    process.getOutputStream().close();
    assertThat(process.waitFor()).as(Files.readString(errors)).isZero();
    assertThat(Files.readString(folder.resolve("o")))
        .contains("<stdin>:1:9: broken", "p.jsonl:1:1:9: broken", "2 broken in 2 sources");
  }

  @Test
  void unreadableFilesAreReportedAndTheRestIsChecked() throws Exception {
    file("gelu.py", OPEN);
    Path binary = folder.resolve("binary.py");
    Files.write(binary, new byte[] {(byte) 0xff, 0, 1, '\n'});
    Files.writeString(folder.resolve("huge.py"), "x".repeat(2 << 20));
    Kbx.Result result = Kbx.here("check", folder, "nowhere.py");
    assertThat(result.exit()).isZero();
    assertThat(result.err())
        .contains("binary.py:1: is not UTF-8", "huge.py: is larger", "nowhere.py");
    assertThat(result.out()).contains("1 broken in 1 source");
    refused(Kbx.here("check", binary), "binary.py", "UTF-8");
  }

  @Test
  void sarifIsOneDocument() throws Exception {
    file("gelu.py", OPEN);
    JsonNode run = check("gelu.py", "--format", "sarif").json().at("/runs/0");
    assertThat(run.at("/results/0/ruleId").asString()).isEqualTo("syntax_error");
    assertThat(run.at("/originalUriBaseIds/SRCROOT/uri").asString())
        .isEqualTo(folder.toRealPath().toUri().toString());
  }

  @Test
  void rulesAreListed() throws Exception {
    assertThat(Kbx.here("check", "--rules").exit()).isZero();
    JsonNode rules = Kbx.here("check", "--rules", "--format", "json").json();
    assertThat(rules.isArray()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "--off,nosuch-rule,no rule 'nosuch-rule'",
    "--explain,nosuch-rule,no rule 'nosuch-rule'",
    "--task,gelo,did you mean gelu",
    "--suite,nosuch,nosuch",
    "--severity,grave,grave",
    "--format,yaml,yaml"
  })
  void badOptions(String option, String value, String words) throws Exception {
    refused(Kbx.here("check", file("gelu.py", OPEN), option, value), words);
  }

  @Test
  void badFiles() throws Exception {
    refused(Kbx.here("check"), "FILE");
    refused(Kbx.here("check", "nowhere"), "nowhere: does not exist");
    refused(
        Kbx.here("check", Files.createDirectory(folder.resolve("nothing"))),
        "nothing: holds no candidates");
    refused(Kbx.here("check", file("notes.txt", "x")), "notes.txt: is not a candidate");
  }

  @Test
  void evalAppliesRulesAndSeparatesRememberedVerdictsByRules() throws Exception {
    String honest = Files.readString(Kbx.home().resolve("corpus/honest/plain/gelu.py"));
    Path file = file("gelu.py", honest + "\n\ntorch.cuda.Event = None\n");
    assertThat(Kbx.here("check", file).out())
        .contains(":1: reject: patched-timer", "1 rejection in 1 source");
    refused(eval(file, "--off", "nosuch-rule"), "no rule 'nosuch-rule'");
    JsonNode rejected = eval(file, "--json").json().at("/verdicts/0");
    assertThat(rejected.get("rule").asString()).isEqualTo("patched-timer");
    assertThat(rejected.get("message").asString()).startsWith("line ");
    Kbx.Result without = eval(file, "--json", "--off", "patched-timer");
    assertThat(without.json().at("/verdicts/0/status").asString()).isEqualTo("correct");
    assertThat(without.json().at("/run/rules_off/0").asString()).isEqualTo("patched-timer");
    Kbx.Result resumed = eval(file, "--resume");
    assertThat(resumed.exit()).isEqualTo(1);
    assertThat(resumed.err()).contains("--off patched-timer", "all rules on");
  }

  @Test
  void resumeRefusesAnotherBaseline() throws Exception {
    Path file = file("gelu.py", OPEN);
    assertThat(eval(file, "--json", "--baseline", "best").json().at("/run/baseline").asString())
        .isEqualTo("best");
    refused(eval(file, "--resume"), "against best", "against eager");
  }

  @ParameterizedTest
  @CsvSource({
    "--arch, sm_80, begun with --arch sm_90",
    "--timeout, 7, begun with --timeout 20",
    "--seed, another, begun with another --seed",
    "--stages, 'static,call', begun with --stages static",
    "--tasks, gelu, begun with --tasks *",
    "--suite, kernelbench, begun with --suite kernelbenchx",
  })
  void resumeRefusesChangedOptions(String option, String value, String said) throws Exception {
    Path file = file("gelu.py", OPEN);
    assertThat(eval(file).exit()).isZero();
    refused(eval(file, "--resume", option, value), said);
  }

  @Test
  void longListOfUnusableFilesIsShortened() throws Exception {
    file("gelu.py", OPEN);
    for (int i = 0; i < 30; i++) file("no_such_task_%d.py".formatted(i), OPEN);
    Kbx.Result result = Kbx.here("eval", folder, "--stages", "static", "--out", folder + "/out");
    assertThat(result.exit()).isZero();
    assertThat(result.err()).contains("... and 10 more like these");
    assertThat(result.out()).contains("Nothing was run: of the stages only static was asked for");
  }

  @Test
  void resumeOfACompleteRunShowsItUnlessSourcesChanged() throws Exception {
    Path file = file("gelu.py", OPEN);
    assertThat(eval(file, "--resume").err()).contains("to resume: a new one begins");
    assertThat(eval(file, "--resume").err()).contains("is complete: nothing is judged again");
    file("gelu.py", OPEN + "\n\nSIZE = 3\n");
    refused(eval(file, "--resume"), "gelu.py is not what run", "judged there");
  }

  private Kbx.Result eval(Path file, Object... more) {
    Object[] all = new Object[more.length + 6];
    Object[] common = {"eval", file, "--stages", "static", "--out", folder.resolve("out")};
    System.arraycopy(common, 0, all, 0, common.length);
    System.arraycopy(more, 0, all, common.length, more.length);
    return Kbx.here(all);
  }
}

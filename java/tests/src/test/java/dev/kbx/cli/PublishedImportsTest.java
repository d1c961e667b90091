package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.app.Home;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code kbx import}: published results as runs that nothing mistakes for kbx's own. */
class PublishedImportsTest {
  @TempDir private Path folder;

  private Path out() {
    return folder.resolve("out");
  }

  private static Kbx.Result ok(Object... arguments) {
    Kbx.Result result = Kbx.here(arguments);
    assertThat(result.exit()).as(result.err()).isZero();
    return result;
  }

  private static void refused(Kbx.Result result, String... words) {
    assertThat(result.exit()).as(result.out()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains(words).doesNotContain("\tat ");
    assertThat(result.out()).isEmpty();
  }

  private Path file(String name, String content) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, content);
  }

  private JsonNode imported(Object... arguments) {
    List<Object> all = new ArrayList<>(List.of("import"));
    all.addAll(List.of(arguments));
    all.addAll(List.of("--out", out(), "--json"));
    return ok(all.toArray()).json();
  }

  private static String id(JsonNode runs) {
    return runs.get(0).get("id").asString();
  }

  private JsonNode shown(String run) {
    return ok("runs", "show", run, "--out", out(), "--json").json();
  }

  private static List<String> tasks() {
    return Home.here().suite("kernelbenchx").tasks().stream()
        .filter(task -> !task.extra())
        .map(task -> task.path() + ".py")
        .toList();
  }

  /** Tasks are solved from this round on; -1 for never. */
  private static int solvedFrom(int task) {
    if (task < 32) return 0;
    if (task < 47) return 1;
    return task < 55 ? 2 : -1;
  }

  private static String code(int task, int written) {
    return "# kernel %d, written in round %d\n".formatted(task, written);
  }

  /** The state of a task after a round, with the published counts. */
  private static ObjectNode state(int task, int round) {
    int[] called = {92, 114, 121};
    int from = solvedFrom(task);
    boolean correct = from >= 0 && from <= round && !(task == 0 && round == 2);
    ObjectNode state = Json.mapper().createObjectNode();
    state.put("call_ok", correct || task < called[round]);
    state.put("exe_ok", correct).put("perf_ok", correct);
    if (correct) state.put("speedup", speedup(task, from, round));
    return state;
  }

  private static boolean increased(int task, int step) {
    return task > 0 && task <= (step == 0 ? 24 : 19) && solvedFrom(task) <= step;
  }

  /** Of those that increase, so many have the same code; all others are written anew. */
  private static boolean same(int task, int step) {
    return task > 0 && task <= (step == 0 ? 16 : 12);
  }

  private static double speedup(int task, int from, int round) {
    double level = from == 0 ? 1.58 : 1.16;
    for (int step = from; step < round; step++) {
      level *= increased(task, step) ? 1.02 : 0.99;
    }
    return level;
  }

  private static int written(int task, int round) {
    int written = 0;
    for (int step = 0; step < round; step++) if (!same(task, step)) written = step + 1;
    return written;
  }

  private static String transition(String id, int task, int from) {
    ObjectNode row = Json.mapper().createObjectNode();
    row.put("task_id", id).put("transition", "round_%d_to_round_%d".formatted(from, from + 1));
    row.put("from_round", "round_" + from).put("to_round", from + 1);
    row.set("before", state(task, from));
    row.set("after", state(task, from + 1));
    row.put("before_code", code(task, written(task, from)));
    row.put("after_code", code(task, written(task, from + 1)));
    row.put("unified_diff", "").put("kind", "any");
    return Json.mapper().writeValueAsString(row);
  }

  /** The corpus over today's tasks, and a task that is no more. */
  private Path corpus() throws IOException {
    List<String> lines = new ArrayList<>();
    List<String> tasks = tasks();
    for (int task = 0; task < tasks.size(); task++) {
      for (int from = 0; from < 2; from++) lines.add(transition(tasks.get(task), task, from));
    }
    lines.add(transition("Math/no_more.py", 0, 0));
    return file("corpus.jsonl", String.join("\n", lines) + "\n");
  }

  @Test
  void publishedCorpusHasItsCounts() throws Exception {
    assertThat(tasks()).hasSize(176);
    JsonNode runs = imported("kernelbenchx-corpus", corpus(), "--method", "geak");
    JsonNode published = runs.get(0).get("published");
    assertThat(published.get("format").asString()).isEqualTo("kernelbenchx-corpus");
    assertThat(published.get("records").asInt()).isEqualTo(353);
    assertThat(published.get("repeated").asInt()).as("the middle round").isEqualTo(176);
    assertThat(published.get("unusable").asInt()).isEqualTo(1);
    assertThat(runs.get(0).get("candidates").asInt()).isEqualTo(3 * 176);

    JsonNode document = ok("analyze", "iterations", "--out", out(), "--json").json();
    assertThat(document.get("as_published").get(id(runs)).asString())
        .isEqualTo("kernelbenchx-corpus");
    JsonNode method = document.get("iterations").get("methods").get(0);
    assertThat(each(method.get("rounds"), "called")).containsExactly("92", "114", "121");
    assertThat(each(method.get("rounds"), "correct")).containsExactly("32", "47", "54");
    JsonNode steps = method.get("steps");
    assertThat(each(steps, "rescued")).containsExactly("15", "8");
    assertThat(each(steps, "regressed")).containsExactly("0", "1");
    List<JsonNode> speeds = steps.findValues("speed");
    assertThat(speeds.get(0).get("increases").asInt()).isEqualTo(24);
    assertThat(speeds.get(0).get("identical_increases").asInt()).isEqualTo(16);
    assertThat(speeds.get(1).get("increases").asInt()).isEqualTo(19);
    assertThat(speeds.get(1).get("identical_increases").asInt()).isEqualTo(12);
    for (JsonNode speed : speeds) {
      assertThat(speed.get("gains").get("5%").asInt()).isZero();
      assertThat(speed.get("faster").asInt() + speed.get("slower").asInt())
          .as("no interval, so no change")
          .isZero();
    }
    String text = ok("analyze", "iterations", "--out", out()).out();
    assertThat(inOneLine(text))
        .contains("is as published (kernelbenchx-corpus)", "published speedups have no intervals")
        .contains("Of 353 records 1 could not be used, 1 of these for no task of the suite.");
    assertThat(method.has("asked")).isFalse();
    for (JsonNode round : method.get("rounds")) {
      assertThat(round.has("share") || round.has("low") || round.has("high"))
          .as("attempts in which nothing happened were not published")
          .isFalse();
    }
    for (JsonNode speed : speeds) {
      assertThat(speed.has("change") || speed.has("changed"))
          .as("of all persistent ones")
          .isFalse();
    }
    assertThat(inOneLine(text))
        .contains("holds only tasks in which something happened")
        .doesNotContain("tasks asked for", " % [");
    assertThat(text.lines().filter(line -> line.startsWith("    0 ")).findFirst().orElseThrow())
        .as("counts alone")
        .doesNotContain("%");
  }

  private static String inOneLine(String text) {
    return text.replaceAll("\\s+", " ");
  }

  /** What the corpus leaves out is in no denominator, in no output. */
  @Test
  void publishedChangesHaveNoRates() throws Exception {
    String run = id(imported("kernelbenchx-corpus", corpus(), "--method", "geak"));
    refused(Kbx.here("analyze", "fastp", run, "--out", out()), "something happened");
    String passK = ok("analyze", "passk", run, "--out", out()).out();
    String methods = ok("analyze", "methods", "--out", out()).out();
    String summary = ok("analyze", "--out", out()).out();
    String shown = ok("runs", "show", run, "--out", out()).out();
    for (String text : List.of(passK, methods, summary, shown)) {
      assertThat(inOneLine(text)).contains("something happened").doesNotContain(" % [");
    }
    assertThat(inOneLine(summary))
        .contains("round 0 solves 32 attempts, all up to round 2 55 attempts");
    Path files = out().resolve("runs").resolve(run);
    JsonNode summaryFile = Json.mapper().readTree(Files.readString(files.resolve("summary.json")));
    assertThat(summaryFile.get("suite_rates").isEmpty()).isTrue();
    assertThat(Files.readString(files.resolve("report.html")))
        .contains("something happened")
        .doesNotContain("of 176 tasks asked for");
    assertThat(ok("report", run, "--format", "md", "--out", out()).out())
        .contains("No rates are given")
        .doesNotContain("tasks asked for");
  }

  /** The published corpus has expand_where in another category, and tasks that are no more. */
  @Test
  void aMovedTaskIsFoundByItsName() throws Exception {
    assertThat(tasks()).contains("Index/expand_where.py");
    Path corpus =
        file(
            "corpus.jsonl",
            String.join(
                "\n",
                transition("Fusion/expand_where.py", 50, 0),
                transition("Fusion/expand_where.py", 50, 1),
                transition("Fusion/no_more.py", 50, 1)));
    JsonNode runs = imported("kernelbenchx-corpus", corpus);
    JsonNode published = runs.get(0).get("published");
    assertThat(published.get("moved").asInt()).isEqualTo(2);
    assertThat(published.get("of_other_tasks").asInt()).isEqualTo(1);
    JsonNode document = ok("analyze", "iterations", "--out", out(), "--json").json();
    JsonNode steps = document.get("iterations").get("methods").get(0).get("steps");
    assertThat(each(steps, "rescued")).containsExactly("0", "1");
    assertThat(shown(id(runs)).get("verdicts").get(0).get("category").asString())
        .isEqualTo("Index");
    assertThat(inOneLine(ok("analyze", "iterations", "--out", out()).out()))
        .contains("Of 3 records 1 could not be used, 1 of these for no task of the suite;")
        .contains("2 are for tasks that the suite has in another category");
  }

  @Test
  void whatIsNotPublishedIsUnknownAndNotFailed() throws Exception {
    String run = id(imported("kernelbenchx-results", metrics("mine", 48, 0)));
    String text = ok("analyze", "deviance", "--out", out()).out();
    assertThat(text)
        .contains("general: no figures: published results do not say.")
        .doesNotContain("0 of 128 pass");
    assertThat(ok("analyze", "methods", "--out", out()).out())
        .contains("general: no figures: published results do not say.");
    assertThat(ok("analyze", "passk", run, "--out", out()).out())
        .contains("published results do not say");
  }

  /** One method's {@code metrics.json}, and its name in {@code summary.json}. */
  private Path metrics(String method, int solved, int shift) throws IOException {
    List<String> tasks = tasks();
    ObjectNode all = Json.mapper().createObjectNode();
    for (int i = 0; i < tasks.size(); i++) {
      boolean correct = (i + shift) % tasks.size() < solved;
      ObjectNode row = all.putObject(tasks.get(i));
      row.put("file", tasks.get(i)).put("call_ok", correct).put("exe_ok", correct);
      row.put("perf_ok", correct).put("runtime_ms", "N/A").put("code", "# " + method);
    }
    file(method + "/summary.json", "{\"method\": \"%s\"}".formatted(method));
    return file(method + "/metrics.json", Json.mapper().writeValueAsString(all));
  }

  @Test
  void countsOfTheFirstTableReproduceThePublishedDeviance() throws Exception {
    List<Object> deviance = new ArrayList<>(List.of("analyze", "deviance"));
    int[] solved = {30, 54, 19, 40};
    for (int i = 0; i < solved.length; i++) {
      Path metrics = metrics("m" + i, solved[i], 45 * i);
      deviance.add(id(imported("kernelbenchx-results", metrics)));
    }
    deviance.addAll(List.of("--out", out(), "--json"));
    JsonNode correct =
        named(ok(deviance.toArray()).json().get("deviance").get("outcomes"), "outcome", "correct");
    JsonNode method = named(correct.get("factors"), "factor", "method");
    assertThat(correct.get("null_deviance").asDouble()).isCloseTo(710.6, within(0.05));
    assertThat(method.get("chi2").asDouble()).isCloseTo(23.8, within(0.05));
  }

  private static List<String> each(JsonNode all, String key) {
    return all.values().stream().map(one -> one.get(key).asString()).toList();
  }

  private static JsonNode named(JsonNode all, String key, String value) {
    for (JsonNode each : all) if (each.get(key).asString().equals(value)) return each;
    throw new AssertionError("no %s %s in %s".formatted(key, value, all));
  }

  private JsonNode verdict(String run, String task) {
    return named(shown(run).get("verdicts"), "task", task);
  }

  @Test
  void importKeepsRecordsAndLeavesUnknownFieldsAbsent() throws Exception {
    Path metrics =
        file(
            "metrics.json",
            """
            {"Activation/gelu.py": {"file": "Activation/gelu.py", "call_ok": true, "exe_ok": true, "perf_ok": true,
              "runtime_ms": 0.5, "gbs": NaN, "speedup": 1.25, "code": "def gelu(input): pass"},
             "Math/exp_sqrt.py": {"call_ok": true, "exe_ok": false, "error": "Traceback\\nAssertionError: no"},
             "Activation/selu.py": {"call_ok": false, "error": null}}
            """);
    String run = id(imported("kernelbenchx-results", metrics, "--method", "mine"));
    JsonNode gelu = verdict(run, "gelu");
    assertThat(gelu.get("status").asString()).isEqualTo("correct");
    assertThat(gelu.get("speedup").toString())
        .isEqualTo("{\"value\":1.25,\"baseline\":\"as published\"}");
    assertThat(gelu.get("device").toString())
        .isEqualTo("{\"kind\":\"published\",\"name\":\"not stated\"}");
    assertThat(gelu.get("candidate").asString()).hasSize(64);
    assertThat(gelu.get("published").get("runtime_ms").asDouble()).isEqualTo(0.5);
    assertThat(gelu.has("sizes")).isFalse();
    assertThat(gelu.get("versions").isEmpty() && gelu.get("seconds").isEmpty()).isTrue();
    JsonNode sqrt = verdict(run, "exp_sqrt");
    assertThat(sqrt.has("candidate")).as("no source, so no hash").isFalse();
    assertThat(sqrt.get("status").asString()).isEqualTo("failed");
    assertThat(sqrt.get("stage").asString()).isEqualTo("correct");
    assertThat(sqrt.get("message").asString()).isEqualTo("AssertionError: no");
    JsonNode selu = verdict(run, "selu");
    assertThat(selu.get("stage").asString()).isEqualTo("call");
    assertThat(selu.get("exe_ok").asBoolean()).isFalse();
    assertThat(sqrt.get("source").asString()).endsWith("metrics.json:3");
  }

  @Test
  void publishedRunIsMarkedInAllOutputs() throws Exception {
    String run = id(imported("kernelbenchx-results", metrics("mine", 30, 0)));
    Path files = out().resolve("runs").resolve(run);
    assertThat(ok("runs", "list", "--out", out()).out()).contains("as published");
    assertThat(ok("runs", "show", run, "--out", out()).out()).contains("As published");
    assertThat(ok("analyze", "fastp", out()).out()).contains("is as published");
    assertThat(ok("analyze", "passk", out(), "--json").json().get("as_published").has(run))
        .isTrue();
    assertThat(Files.readString(files.resolve("report.html"))).contains("kbx has judged none");
    assertThat(Files.readString(files.resolve("summary.json"))).contains("\"published\"");
    assertThat(files.resolve("metrics.json")).as("it would not say so").doesNotExist();
    refused(Kbx.here("analyze", "portability", out()), run, "as published");
    assertThat(ok("report", run, "--format", "md", "--out", out()).out())
        .contains(run + ", as published", "kbx has judged none of them")
        .doesNotContain("Infinity", "NaN", "that the candidate cannot reach", "Nothing was timed");
  }

  @Test
  void publishedAndJudgedRunsAreComparedAndNeverPooled() throws Exception {
    Path metrics =
        file(
            "metrics.json",
            """
            {"Activation/gelu.py": {"call_ok": true, "exe_ok": true, "code": "import torch\\ndef gelu(input): return 1"},
             "Activation/selu.py": {"call_ok": true, "exe_ok": false, "code": "def selu(input:"}}
            """);
    String published = id(imported("kernelbenchx-results", metrics, "--method", "mine"));
    Path kernels = out().resolve("runs").resolve(published).resolve("predictions.jsonl");
    ok("eval", kernels, "--stages", "static", "--out", out());
    String judged = ok("runs", "list", "--out", out(), "--json").json().get(0).get("id").asString();
    assertThat(judged).isNotEqualTo(published);
    JsonNode step =
        ok("compare", published, judged, "--out", out(), "--json").json().get("steps").get(0);
    assertThat(step.get("candidates")).hasSize(2);
    for (JsonNode pair : step.get("candidates")) {
      assertThat(pair.get("same_source").asBoolean()).as(pair.toString()).isTrue();
      assertThat(pair.get("now").get("method").asString()).isEqualTo("mine");
    }
    assertThat(named(step.get("candidates"), "task", "gelu").get("transition").asString())
        .as("no kernel in it")
        .isEqualTo("regressed");
    refused(
        Kbx.here("analyze", "methods", published, judged, "--out", out()),
        published,
        judged,
        "one by one");
    refused(
        Kbx.here("report", published, judged, "--format", "md", "--out", out()),
        published,
        judged,
        "one by one");
    refused(Kbx.here("eval", metrics, "--resume", "--out", out()), "metrics.json");
  }

  @Test
  void aRunFolderOfKernelBenchHasItsKernels() throws Exception {
    Path results =
        file(
            "run/eval_results.json",
            """
            {"19": [{"sample_id": 0, "compiled": true, "correctness": true, "runtime": 2.0, "ref_runtime": 3.0,
                     "metadata": {"hardware": "NVIDIA H100", "device": "cuda:0"}},
                    {"sample_id": 1, "compiled": true, "correctness": false, "runtime": -1.0,
                     "metadata": {"hardware": "NVIDIA H100", "runtime_error": "boom"}}],
             "20": [{"sample_id": 0, "compiled": false, "correctness": false, "metadata": {"hardware": "NVIDIA A100"}}],
             "999": [{"sample_id": 0, "compiled": false}]}
            """);
    refused(Kbx.here("import", "kernelbench-results", results, "--out", out()), "--level");
    file("run/level_1_problem_19_sample_0_kernel.py", "class ModelNew: pass");
    JsonNode runs = imported("kernelbench-results", folder.resolve("run"));
    assertThat(runs).as("two devices").hasSize(2);
    JsonNode verdicts = shown(id(runs)).get("verdicts");
    assertThat(verdicts.get(0).get("speedup").get("value").asDouble()).isEqualTo(1.5);
    assertThat(verdicts.get(0).get("candidate").asString()).hasSize(64);
    assertThat(verdicts.get(0).get("device").get("name").asString()).isEqualTo("NVIDIA H100");
    assertThat(verdicts.get(1).has("candidate")).isFalse();
    assertThat(verdicts.get(1).get("call_ok").asBoolean()).isFalse();
    assertThat(verdicts.get(1).get("sample").asInt()).isEqualTo(1);
  }

  @Test
  void workloadsOfASolutionAreOneResult() throws Exception {
    String trace =
        """
        {"definition": "rmsnorm_h128", "solution": "%s", "workload": {"uuid": "u", "axes": {"batch": %d}},\
         "evaluation": {"status": "%s", "log": "", "performance": {"speedup_factor": %s},\
         "environment": {"hardware": "NVIDIA_H100"}}}
        """;
    file(
        "data/traces/alice/rmsnorm/rmsnorm_h128.jsonl",
        trace.formatted("first", 1, "PASSED", "2.0")
            + trace.formatted("first", 8, "PASSED", "8.0")
            + trace.formatted("second", 1, "PASSED", "3.0")
            + trace.formatted("second", 8, "INCORRECT_NUMERICAL", "null")
            + trace.formatted("third", 8, "SPLENDID", "null"));
    file(
        "data/solutions/first.json",
        """
        {"name": "first", "definition": "rmsnorm_h128", "author": "alice",\
         "sources": [{"path": "main.py", "content": "def run(): pass"}]}
        """);
    Kbx.Result result =
        ok("import", "flashinfer", folder.resolve("data"), "--out", out(), "--json");
    assertThat(result.err()).contains("rmsnorm_h128.jsonl:5", "SPLENDID");
    JsonNode verdicts = shown(id(result.json())).get("verdicts");
    assertThat(verdicts).hasSize(2);
    JsonNode first = verdicts.get(0);
    assertThat(first.get("category").asString()).isEqualTo("rmsnorm");
    assertThat(first.get("method").asString()).isEqualTo("alice");
    assertThat(first.get("speedup").get("value").asDouble()).isCloseTo(4, within(1e-9));
    assertThat(first.get("published").get("traces")).hasSize(2);
    assertThat(first.has("candidate")).isTrue();
    assertThat(verdicts.get(1).get("status").asString()).isEqualTo("wrong_values");
    assertThat(verdicts.get(1).has("speedup")).isFalse();
  }

  @Test
  void geakPassesAreReadFromItsMemory() throws Exception {
    Path first =
        file(
            "geak/best_0.jsonl",
            "{\"filename\": \"gelu.py\", \"predict\": \"def gelu(): pass\"}\n");
    file("geak/best_1.jsonl", "{\"filename\": \"gelu.py\", \"predict\": \"def gelu(): return\"}\n");
    refused(Kbx.here("import", "geak", first, "--out", out()), "states no outcome", "kbx eval");
    file(
        "geak/best_mem_0.json",
        "{\"gelu.py\": {\"pass_call\": true, \"pass_exe\": false, \"exe_err_msg\": \"bad\"}}");
    file(
        "geak/best_mem_1.json",
        "{\"gelu.py\": {\"pass_call\": true, \"pass_exe\": true, \"pass_perf\": true}}");
    JsonNode verdicts = shown(id(imported("geak", folder.resolve("geak")))).get("verdicts");
    assertThat(verdicts.findValuesAsString("round")).containsExactly("0", "1");
    assertThat(verdicts.findValuesAsString("status")).containsExactly("failed", "correct");
    assertThat(verdicts.findValuesAsString("method")).containsExactly("geak", "geak");
    assertThat(verdicts.get(0).get("message").asString()).isEqualTo("bad");
  }

  @Test
  void sessionHasItsSuccessfulKernels() throws Exception {
    file("gelu/session_1/problem.txt", "Write gelu.");
    file("gelu/session_1/final_kernel.py", "def gelu(): return 2");
    file("gelu/session_1/result.json", "{\"success\": true}");
    file(
        "gelu/session_1/workers/worker_3/round_1.json",
        "{\"round\": 1, \"success\": false, \"kernel_code\": \"def gelu(): pass\", \"stderr\":"
            + " \"E\"}");
    JsonNode verdicts = shown(id(imported("kernelagent", folder.resolve("gelu")))).get("verdicts");
    assertThat(verdicts.findValuesAsString("status"))
        .containsExactlyInAnyOrder("failed", "correct");
    JsonNode failed = named(verdicts, "status", "failed");
    assertThat(failed.get("sample").asInt()).isEqualTo(3);
    assertThat(failed.has("call_ok")).as("not stated").isFalse();
    assertThat(failed.get("published").has("kernel_code")).isFalse();
  }

  @Test
  void eachUnusableRecordIsNamed() throws Exception {
    String good = transition("Activation/gelu.py", 0, 0);
    ObjectNode other = (ObjectNode) Json.mapper().readTree(good);
    ((ObjectNode) other.get("after")).put("call_ok", false).put("exe_ok", false);
    ObjectNode faster = (ObjectNode) Json.mapper().readTree(good);
    ((ObjectNode) faster.get("after")).put("speedup", 9.9);
    ObjectNode impossible = (ObjectNode) Json.mapper().readTree(good);
    ((ObjectNode) impossible.get("before")).put("call_ok", false);
    Path corpus =
        file(
            "corpus.jsonl",
            String.join(
                "\n",
                good,
                "{\"task_id\": ",
                other.toString(),
                impossible.toString(),
                "[]",
                "{}",
                faster.toString()));
    Kbx.Result result = ok("import", "kernelbenchx-corpus", corpus, "--out", out(), "--json");
    assertThat(result.err())
        .contains(":2: is no JSON", ":3: says otherwise", ":1, which counts")
        .contains(":4: \"before\" states exe_ok true and call_ok false", ":5: is no JSON object")
        .contains(":6: has no \"task_id\"", ":7: says otherwise of the kernel of round 1");
    assertThat(result.json().get(0).get("published").get("unusable").asInt()).isEqualTo(6);
  }

  @Test
  void eachDeviceIsARunWithItsSamples() throws Exception {
    ObjectNode first = (ObjectNode) Json.mapper().readTree(transition("Activation/gelu.py", 0, 0));
    ObjectNode second = first.deepCopy();
    first.put("hardware", "H100");
    ((ObjectNode) second.put("hardware", "A100").get("after")).put("speedup", 9.9);
    Path corpus = file("corpus.jsonl", first + "\n" + second + "\n");
    JsonNode runs = imported("kernelbenchx-corpus", corpus);
    assertThat(runs).hasSize(2);
    for (JsonNode run : runs) {
      assertThat(run.get("published").get("unusable").asInt()).isZero();
      JsonNode verdicts = shown(run.get("id").asString()).get("verdicts");
      assertThat(each(verdicts, "sample")).containsOnly("0");
    }
    Path mixed =
        file(
            "metrics.json",
            "[null, {\"file\": \"Activation/gelu.py\", \"call_ok\": true, \"exe_ok\": true}]");
    Kbx.Result read = ok("import", "kernelbenchx-results", mixed, "--out", out());
    assertThat(read.err()).contains("metrics.json:1: is no JSON object");
  }

  @Test
  void wrongArgumentsAreOneLineErrors() throws Exception {
    refused(Kbx.here("import", "nonsense", "x", "--out", out()), "no format 'nonsense'", "geak");
    refused(Kbx.here("import", "geak", "nowhere", "--out", out()), "nowhere: does not exist");
    refused(
        Kbx.here("import", "kernelbenchx-results", file("metrics.json", "[1"), "--out", out()),
        "metrics.json");
    refused(
        Kbx.here("import", "kernelbenchx-results", file("metrics.json", "{}"), "--out", out()),
        "has no result in the format");
    refused(Kbx.here("import", "kernelagent", folder, "--out", out()), "no session of KernelAgent");
    refused(
        Kbx.here("import", "flashinfer", folder, "--suite", "kernelbenchx", "--out", out()),
        "--suite");
    assertThat(out()).doesNotExist();
  }
}

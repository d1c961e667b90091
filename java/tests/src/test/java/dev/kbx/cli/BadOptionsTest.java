package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kbx.app.JudgingSettings;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Options and names that mean nothing get one clear line and exit code 1. */
class BadOptionsTest extends RefusedInput {
  @Test
  void unusableListenAddress() throws Exception {
    Path out = folder.resolve("out");
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();
      refusedInOneLine(
          Kbx.here("serve", "--port", port, "--out", out),
          "--host 127.0.0.1 --port %d: cannot listen there: Address already in use"
              .formatted(port));
    }
    refusedInOneLine(
        Kbx.here("serve", "--host", "nowhere.invalid", "--out", out),
        "--host nowhere.invalid: no such address");
    assertThat(out).doesNotExist();
  }

  /** Candidates name their suite; of two of one name the first was served to nobody. */
  @Test
  void twoServedSuitesOfOneName() {
    Path out = folder.resolve("out");
    refusedInOneLine(
        Kbx.here("serve", "--suite", "serving,kernelbenchx,serving", "--out", out),
        "--suite: two suites are named serving");
    assertThat(out).doesNotExist();
  }

  @Test
  void unreachableCluster() throws Exception {
    Object[] judge = {"eval", file("p.jsonl", GOOD), "--out", folder.resolve("out"), "--cluster"};
    for (String scheme : List.of("", "ray://")) {
      String nowhere = scheme + "nowhere.invalid:6379";
      refused(
          Kbx.here(PrecisionTest.with(judge, nowhere)),
          "--cluster " + nowhere + ": no host of that name");
      String closed = scheme + "127.0.0.1:1";
      refused(
          Kbx.here(PrecisionTest.with(judge, closed)),
          "--cluster " + closed + ": nothing answers there");
    }
  }

  @Test
  void candidatesWithoutAMethodAreNotExported() throws Exception {
    Path out = folder.resolve("out");
    assertThat(eval(file("p.jsonl", GOOD)).exit()).isZero();
    refusedInOneLine(
        Kbx.here("export", "predictions", folder.resolve("x"), "--out", out),
        "export: no run in %s was written by methods; the formats kernelbench and training are"
            .formatted(out));
  }

  @Test
  void pythonWithoutTorch() throws Exception {
    Kbx.Result result =
        Kbx.here(
            "eval",
            file("p.jsonl", GOOD),
            "--python",
            "/usr/bin/python3",
            "--out",
            folder.resolve("out"));
    refused(result, "/usr/bin/python3", "torch");
  }

  @ParameterizedTest
  @CsvSource({
    "--stages,warp,warp",
    "--baseline,fastest,fastest",
    "--device,tpu,tpu",
    "--device,cuda:x,cuda:x",
    "--arch,sm_1,sm_90",
    "--suite,nosuch,nosuch",
    "--tasks,nosuch,nosuch",
    "--timeout,0,--timeout",
    "--jobs,many,--jobs many: is not a whole number",
    "--jobs,0,--jobs 0: at least 1",
    "--jobs,-1,--jobs -1: at least 1",
    "--seed,'',--seed: is empty",
    "--seed,' ',--seed: is empty",
    "--python,'',--python: is empty",
    "--nosuch,x,--nosuch"
  })
  void badOptions(String option, String value, String word) throws Exception {
    refused(
        Kbx.here("eval", file("p.jsonl", GOOD), option, value, "--out", folder.resolve("out")),
        word);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval .",
        "tasks verify",
        "bench cheats",
      })
  void anEmptySeed(String command) throws Exception {
    Object[] arguments = (command + " --seed=").split(" ");
    refusedInOneLine(Kbx.here(arguments), "--seed: is empty; give a text");
  }

  @Test
  void emptyPaths() throws Exception {
    refusedInOneLine(Kbx.here("eval", ""), "SOURCE: is empty; name");
    refusedInOneLine(Kbx.here("bench", "throughput", ""), "SOURCE: is empty; name");
    refusedInOneLine(Kbx.here("check", ""), "FILE: is empty; name");
    refusedInOneLine(Kbx.here("bench", "cheats", ""), "PATH: is empty; name");
    refusedInOneLine(Kbx.here("tasks", "import", "kernelbench", ""), "DIR: is empty; name");
    refusedInOneLine(Kbx.here("runs", "merge", "", "--out", "x"), "DIR: is empty; name");
    refusedInOneLine(Kbx.here("export", "kernelbench", ""), "DIR: is empty; name");
    refusedInOneLine(Kbx.here("compare", "", ""), "RUN: is empty; name");
    refusedInOneLine(Kbx.here("analyze", "passk", ""), "RUN: is empty; name");
  }

  @Test
  void aTaskOfAnotherSuite() throws Exception {
    String hint = "it is one of suite kernelbench: give --suite kernelbench";
    refusedInOneLine(
        Kbx.here("tasks", "show", "19_ReLU"), "no task '19_ReLU' in suite kernelbenchx; " + hint);
    Path file = file("19_ReLU.py", "x = 1\n");
    refusedInOneLine(alone(file), file + ": no task '19_ReLU' in suite kernelbenchx; " + hint);
    refusedInOneLine(
        eval(file, "--tasks", "level1/*"), "no task 'level1/*' in suite kernelbenchx; " + hint);
    Path honest = Kbx.home().resolve("corpus/kernelbench/honest");
    refusedInOneLine(
        alone(honest), honest + ": is for the suite kernelbench, and this run judges kernelbenchx");
  }

  @Test
  void categoryWithoutWildcard() throws Exception {
    refusedInOneLine(
        Kbx.here("tasks", "show", "Math"),
        "no task 'Math' in suite kernelbenchx; did you mean Math/*?");
  }

  @Test
  void severalTasksAsOneDocument() throws Exception {
    refused(
        Kbx.here("tasks", "show", "Activation/*elu", "--json"),
        "Activation/*elu: means",
        "Activation/gelu, Activation/",
        "with --json name one");
    assertThat(Kbx.here("tasks", "show", "Activation/*elu").out()).contains("gelu", "relu");
  }

  @Test
  void missingParameters() {
    String help = "; 'kbx compare --help' explains it";
    refusedInOneLine(Kbx.here("compare"), "'kbx compare' needs at least 2 × RUN" + help);
    refusedInOneLine(Kbx.here("compare", "a"), "'kbx compare' needs at least 2 × RUN" + help);
    refusedInOneLine(Kbx.here("runs", "copy"), "'kbx runs copy' needs FROM and TO;");
  }

  @Test
  void folderThatIsNotASuite() throws Exception {
    refusedInOneLine(
        Kbx.here("tasks", "list", "--suite", "foo"),
        "no suite 'foo': it is not a folder; the suites here are kernelbench, kernelbenchx,"
            + " serving\n");
    refusedInOneLine(
        eval(file("p.jsonl", GOOD), "--suite", "kernelbnech"),
        "no suite 'kernelbnech': did you mean kernelbench or kernelbenchx?");
    Path scripts = folder.resolve("scripts");
    Files.createDirectories(scripts.resolve("tools"));
    Files.writeString(scripts.resolve("tools/run.py"), "print(1)\n");
    refusedInOneLine(
        eval(file("p.jsonl", GOOD), "--suite", scripts), scripts + ": holds no task files");
  }

  @Test
  void unusableKbxPythonIsRefusedOnlyByCommandsThatNeedIt() throws Exception {
    Path out = folder.resolve("out");
    Map<String, String> environment = Map.of("KBX_PYTHON", folder.toString());
    Path good = file("p.jsonl", GOOD);
    refusedInOneLine(
        Kbx.run(folder, environment, "eval", good, "--out", out),
        "KBX_PYTHON names %s, which is a folder; give the path of a python".formatted(folder));
    assertThat(out).doesNotExist();
    assertThat(Kbx.run(folder, environment, arguments(good)).exit()).isZero();
  }

  @Test
  void pythonOptionThatIsNotPython() throws Exception {
    refusedInOneLine(
        Kbx.here(
            "eval", file("gelu.py", GOOD), "--python", "/bin/ls", "--out", folder.resolve("out")),
        "--python: /bin/ls is no Python");
  }

  @Test
  void absentGpus() throws Exception {
    assumeTrue(JudgingSettings.gpus().isEmpty(), "there is a GPU");
    for (String device : List.of("cuda", "cuda:0", "cuda:3")) {
      refusedInOneLine(
          Kbx.here("doctor", "--device", device),
          "--device %s: no NVIDIA GPU here (no /dev/nvidia0); use --device cpu".formatted(device));
    }
  }

  @Test
  void aRefereeOfUnknownStages() throws Exception {
    refusedInOneLine(
        Kbx.here("bench", "referee", "--stages", "foo", "--candidates", 10, "--out", folder),
        "--stages: 'foo' is not one of static,compile,call,correct,perf");
  }

  @Test
  void profileWithoutThePerfStage() throws Exception {
    refused(eval(file("p.jsonl", GOOD), "--profile"), "--profile", "perf stage");
  }

  @Test
  void perfStageAloneWithoutAGpu() throws Exception {
    Object[] eval = {"eval", file("p.jsonl", GOOD), "--stages", "perf", "--device", "cpu"};
    refusedInOneLine(
        Kbx.run(folder, eval),
        "--stages perf: needs a GPU, and none is used, so nothing would be judged; leave it away");
  }

  @Test
  void unknownRunAndTask() throws Exception {
    refused(Kbx.run(folder, "runs", "list"), "kbx-out");
    refused(Kbx.here("tasks", "show", "gelo"), "gelo", "gelu");
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kbx.SimulatedRun;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx report} as a user runs it. */
class ReportCommandTest {
  /** What TeX would take for commands. */
  private static final String HOSTILE = "re_fine 50% & #1 {x} \\input $y$ ~^ <b> | \"é中\"";

  private static final Pattern ENVIRONMENT = Pattern.compile("\\\\(begin|end)\\{([a-z]+)\\}");
  private static final Pattern INPUT = Pattern.compile("\\\\input\\{([^}]+)\\}");

  @TempDir private Path folder;

  private SimulatedRun first;
  private SimulatedRun second;

  /** Two devices; three methods, one with rounds; names with all that is special in TeX. */
  @BeforeEach
  void runs() {
    first = on(SimulatedRun.on(SimulatedRun.H200, 1), 1);
    second = on(SimulatedRun.on(SimulatedRun.A100, 2), 0.8);
    first.store(folder.resolve("a"));
    second.store(folder.resolve("b"));
  }

  private static SimulatedRun on(SimulatedRun run, double factor) {
    List<String> tasks = List.of("Math/exp_sqrt", "Activation/gelu", "Loss/a_b%c&d#e", "Math/log");
    for (String method : List.of("single", HOSTILE)) {
      run.by(method).model("openai:" + method);
      for (int i = 0; i < tasks.size(); i++) {
        String code = method + tasks.get(i);
        if (i == 3) run.wrong(tasks.get(i), code, Status.WRONG_VALUES);
        else run.correct(tasks.get(i), code, factor * (1 + i / 3.0));
      }
    }
    for (int round = 0; round < 3; round++) {
      run.by("refine").model("m").round(round);
      for (int i = 0; i < tasks.size(); i++) {
        String code = "refine" + i + " " + round;
        if (i <= round) run.correct(tasks.get(i), code, factor * (0.7 + round / 2.0));
        else run.wrong(tasks.get(i), code, Status.WRONG_SHAPE);
      }
    }
    return run.by("single")
        .model("openai:single")
        .round(0)
        .breaking("Math/cos_1", "cos", "empty", "dtype:float64");
  }

  private static Kbx.Result ok(Object... arguments) {
    Kbx.Result result = Kbx.here(arguments);
    assertThat(result.exit()).as(result.err()).isZero();
    return result;
  }

  private static void refused(String line, Object... arguments) {
    Kbx.Result result = Kbx.here(arguments);
    assertThat(result.exit()).as(result.err()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains(line).hasLineCount(1);
    assertThat(result.out()).isEmpty();
  }

  @Test
  void jsonHasAllAnalyses() {
    JsonNode report =
        ok("report", folder.resolve("a"), folder.resolve("b"), "--format", "json").json();
    assertThat(report.get("kind").asString()).isEqualTo("report");
    assertThat(report.get("schema").asInt()).isEqualTo(1);
    JsonNode analyses = report.get("analyses");
    assertThat(analyses.get("methods").get("methods").size()).isEqualTo(3);
    assertThat(analyses.get("deviance").get("outcomes").size()).isEqualTo(4);
    assertThat(analyses.get("iterations").get("methods").size()).isEqualTo(1);
    assertThat(analyses.has("errors")).isTrue();
    assertThat(report.get("fastp").size()).isEqualTo(12);
    assertThat(report.get("portability").get("entered").asInt()).isEqualTo(12);
    assertThat(report.get("properties").size()).isEqualTo(1);
    assertThat(report.get("without").get(0).get("analysis").asString()).isEqualTo("budget");
    JsonNode measurement = report.get("measurement");
    assertThat(measurement.get("runs").size()).isEqualTo(2);
    assertThat(measurement.get("conditions").get("devices").size()).isEqualTo(2);
    assertThat(measurement.get("conditions").get("timed").asInt()).isEqualTo(72);
  }

  @Test
  void jsonAgreesWithTheAnalyses() {
    JsonNode report = ok("report", folder.resolve("a"), "--format", "json").json();
    JsonNode deviance = ok("analyze", "deviance", folder.resolve("a"), "--json").json();
    assertThat(report.get("analyses").get("deviance")).isEqualTo(deviance.get("deviance"));
    JsonNode fastp = ok("analyze", "fastp", folder.resolve("a"), "--json").json();
    assertThat(report.get("fastp")).isEqualTo(fastp.get("series"));
  }

  @Test
  void markdownHasTablesAndTheAppendix() {
    String text = ok("report", folder.resolve("a"), "--format", "md").out();
    assertThat(text)
        .startsWith("# kernelbenchx: run " + first.id())
        .contains("## Methods and models", "## Iterations", "## Speed", "## How this was measured")
        .contains("| single · openai:single | 5 |", "&lt;b> \\|", "NVIDIA H200, GPU-5bd02c7a")
        .contains("kbx bench noise measures it", "The driver reported no clocks.")
        .contains("portability: the runs are not timed ones on several devices.");
    for (String line : text.lines().filter(each -> each.startsWith("|")).toList()) {
      assertThat(line).endsWith(" |");
    }
  }

  @Test
  void latexIsCompleteAndBalanced() throws Exception {
    Path out = latex();
    List<Path> files;
    try (Stream<Path> all = Files.walk(out)) {
      files = all.filter(file -> file.toString().endsWith(".tex")).toList();
    }
    assertThat(files.stream().map(file -> out.relativize(file).toString()))
        .contains(
            "main.tex",
            "preamble.tex",
            "appendix.tex",
            "tables/rates.tex",
            "tables/categories.tex",
            "tables/deviance.tex",
            "tables/rounds.tex",
            "tables/fastp-eager.tex",
            "tables/matrix.tex",
            "tables/devices.tex",
            "figures/rates.tex",
            "figures/deviance.tex",
            "figures/iterations.tex",
            "figures/fastp-eager.tex",
            "figures/spread.tex")
        .doesNotContain("figures/budget-calls.tex");
    for (Path file : files) {
      balanced(Files.readString(file));
      if (!file.startsWith(out.resolve("figures"))) continue;
      assertThat(Path.of(file.toString().replace(".tex", ".svg"))).isRegularFile();
    }
    for (Path file : files) {
      Matcher input = INPUT.matcher(Files.readString(file));
      while (input.find()) assertThat(out.resolve(input.group(1) + ".tex")).isRegularFile();
    }
  }

  private Path latex() {
    Path out = folder.resolve("paper");
    Kbx.Result result =
        ok(
            "report",
            folder.resolve("a"),
            folder.resolve("b"),
            "--format",
            "latex",
            "--output",
            out);
    assertThat(result.out().strip()).isEqualTo(out.resolve("main.tex").toString());
    return out;
  }

  private static void balanced(String tex) {
    Deque<String> open = new ArrayDeque<>();
    Matcher each = ENVIRONMENT.matcher(tex);
    while (each.find()) {
      if (each.group(1).equals("begin")) open.push(each.group(2));
      else assertThat(open.pop()).isEqualTo(each.group(2));
    }
    assertThat(open).isEmpty();
    String plain = tex.replaceAll("\\\\[{}]", "");
    assertThat(plain.chars().filter(c -> c == '{').count())
        .isEqualTo(plain.chars().filter(c -> c == '}').count());
  }

  @Test
  void latexCompiles() throws Exception {
    assumeTrue(
        Stream.of(System.getenv("PATH").split(":"))
            .anyMatch(p -> Files.exists(Path.of(p, "pdflatex"))),
        "no pdflatex; apt-get install texlive-latex-extra texlive-pictures"
            + " texlive-fonts-recommended");
    Path out = latex();
    List<String> command =
        List.of("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex");
    Launched compiled = Launched.run(out, Map.copyOf(System.getenv()), command);
    assertThat(compiled.exit()).as(compiled.out()).isZero();
    assertThat(compiled.out()).doesNotContain("Overfull", "Missing character");
    assertThat(out.resolve("main.pdf")).isRegularFile();
  }

  @Test
  void csvAndParquetHaveAllRuns() throws Exception {
    Path out = folder.resolve("data");
    for (String format : List.of("csv", "parquet")) {
      ok("report", folder.resolve("a"), folder.resolve("b"), "--format", format, "--output", out);
    }
    assertThat(Files.readString(out.resolve("verdicts.csv")))
        .contains(first.id(), second.id())
        .hasLineCount(1 + first.verdicts().size() + second.verdicts().size());
    assertThat(out.resolve("sizes.parquet")).isRegularFile();
  }

  @Test
  void htmlIsTheRunsPage() throws Exception {
    Path page = folder.resolve("page.html");
    ok("report", folder.resolve("a"), "--output", page);
    assertThat(Files.readString(page)).startsWith("<!doctype html>").contains(first.id());
    refused(
        "--format html: is the page of one run, and 2 were named",
        "report",
        folder.resolve("a"),
        folder.resolve("b"),
        "--output",
        page);
  }

  @Test
  void oneCandidateIsNamedByTaskFileOrHash() throws Exception {
    Path run = folder.resolve("a");
    Verdict cos = first.verdicts().getLast();
    String hash = cos.provenance().candidate();
    String text = ok("report", run, "--candidate", "cos_1", "--format", "text").out();
    assertThat(text).startsWith("Math/cos_1: correct\n\nResult\n").contains("dtype:float64");
    for (String name : List.of("Math/cos_1", hash)) {
      assertThat(ok("report", run, "--candidate", name, "--format", "text").out()).isEqualTo(text);
    }
    String markdown = ok("report", run, "--candidate", "cos_1", "--format", "md").out();
    assertThat(markdown)
        .startsWith("# Math/cos_1: correct\n")
        .contains("| breaks on | as | why |", "| empty |", "<summary>Conditions</summary>", hash);
    Path page = folder.resolve("kernel.html");
    ok("report", run, "--candidate", "cos_1", "--output", page);
    assertThat(Files.readString(page)).contains("<h1>Math/cos_1: correct</h1>", "dtype:float64");
  }

  @Test
  void runOfOneCandidateIsThatKernel() {
    Path run = folder.resolve("one");
    SimulatedRun.on(SimulatedRun.H200, 3).correct("Math/log", "log", 1.5).store(run);
    assertThat(ok("report", run, "--format", "md").out())
        .startsWith("# Math/log: correct\n")
        .contains("## Timings", "1.50×", "NVIDIA H200");
    assertThat(ok("report", run, "--format", "text").out())
        .startsWith("Math/log: correct\n")
        .contains("1.50×")
        .doesNotContain("NVIDIA H200", "SHA-256");
  }

  @Test
  void candidatesThatAreNotOneAreOneLineErrors() {
    Path run = folder.resolve("a");
    refused(
        "--candidate gelu: names 5 candidates of run "
            + first.id()
            + "; name one by its file or hash: ",
        "report",
        run,
        "--candidate",
        "gelu",
        "--format",
        "md");
    refused("no such candidate", "report", run, "--candidate", "none", "--format", "md");
    refused("no such candidate", "report", run, "--candidate", "", "--format", "md");
    refused("candidates: name one by --candidate", "report", run, "--format", "text");
    refused(
        "--candidate: goes with --format html, md or text",
        "report",
        run,
        "--candidate",
        "gelu",
        "--format",
        "csv");
    refused(
        "--candidate: is of one run, and 2 were named",
        "report",
        run,
        folder.resolve("b"),
        "--candidate",
        "cos_1",
        "--format",
        "md");
  }

  @Test
  void emptyRunHasAReport() {
    Path empty = folder.resolve("empty");
    SimulatedRun.on(SimulatedRun.CPU, 1).store(empty);
    for (String format : List.of("md", "json", "latex", "csv", "parquet")) {
      ok("report", empty, "--format", format, "--output", empty.resolve("report-" + format));
    }
    assertThat(ok("report", empty, "--format", "md").out()).contains("0 judged candidates");
  }

  @Test
  void wrongArgumentsAreOneLineErrors() throws Exception {
    Path run = folder.resolve("a");
    refused(
        "--format: no format 'pdf'; there are html, md, text, json, latex, csv, parquet",
        "report",
        run,
        "--format",
        "pdf");
    refused("no such run in", "report", "nowhere", "--out", run, "--format", "md");
    refused("no runs there", "report", "--out", folder.resolve("none"), "--format", "md");
    refused("is a folder; name a file, *.md", "report", run, "--format", "md", "--output", run);
    Path source = Files.writeString(folder.resolve("gelu.py"), "import torch\n");
    refused("gelu.py: is there already and no *.html", "report", run, "--output", source);
    assertThat(source).hasContent("import torch");
    Path file = Files.createFile(folder.resolve("file"));
    refused("is a file; name a folder", "report", run, "--format", "csv", "--output", file);
    refused("is a file", "report", run, "--format", "md", "--output", file.resolve("x.md"));
    refused("/proc/none", "report", run, "--format", "latex", "--output", "/proc/none");
    Path other = folder.resolve("c");
    SimulatedRun.on(SimulatedRun.H200, 3)
        .of("kernelbench")
        .correct("level1/x", "x", 1)
        .store(other);
    refused("runs of two suites", "report", run, other, "--format", "md");
  }
}

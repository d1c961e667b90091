package dev.kbx.cli;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.kbx.SimulatedRun;
import dev.kbx.app.WorkerSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Links of README and docs lead somewhere, and their commands work as they stand there. */
class DocsTest {
  private static final Path HOME = Kbx.home();
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");
  private static final Pattern FENCED = Pattern.compile("(?ms)^```\\w*\\n(.*?)^```$");
  private static final Pattern INDENTED = Pattern.compile("(?m)^ {4}(kbx .*)$");
  private static final Pattern COMMAND =
      Pattern.compile("^(?:KBX_PYTHON=\\S+ )?(?:\\./)?kbx (.*?)(?: +#.*| *>.*)?$");
  private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");

  /** What is not run here though it is parsed, by a part of it, and why. */
  private static final Map<String, String> ELSEWHERE =
      Map.ofEntries(
          entry("--cluster", "needs a Ray cluster; ClusterSoakTest starts one"),
          entry("jdbc:", "needs a PostgreSQL at that address; TeamStoreTest has one"),
          entry("$KBX_STORE", "needs a PostgreSQL; TeamStoreTest has one"),
          entry("--device cuda", "needs a GPU"),
          entry("--profile", "needs a GPU with Nsight Compute"),
          entry("bench ", "takes minutes; CheatsTest and NoiseTwinsTest run the benchmarks"),
          entry("--watch", "has no end; WatchTest"),
          entry("serve", "has no end; ServedKbx starts it for many tests"),
          entry("mcp", "answers a client; McpTest"),
          entry("generate --method refine", "asks a provider; GenerationTest asks a scripted one"),
          entry("generate --method external", "asks a provider; MethodRunsTest"),
          entry("audit", "needs a run of methods; AgentMethodTest"),
          entry("run ", "runs methods; MethodRunsTest, the demo among them"),
          entry("analyze iterations", "needs candidates of two rounds; AnalyzeRunsTest"),
          entry("analyze budget", "needs a run of methods; MethodBudgetsTest"),
          entry("analyze turns", "needs a run of methods; MethodRunsTest"),
          entry(
              "export ", "needs a run's sources or methods; MethodExportsTest, TrainingExportTest"),
          entry("certify", "needs a judged run; CertifyTest"),
          entry("models --check qwen", "asks a provider; ModelsCommandTest"),
          entry("tasks verify", "judges every control; VerifyTest, SuiteControlsTest"),
          entry("tasks new", "writes into a folder of the user's; TasksFromReferencesTest"),
          entry("tasks import", "needs a checkout of the original; ImportTasksTest"),
          entry("-original", "needs a checkout of the original; ImportTasksTest"),
          entry("--suite my-tasks", "needs what tasks new wrote; TasksFromReferencesTest"),
          entry("--reference recorded/", "needs what kbx.capture wrote; CaptureTest"),
          entry("import kernelbenchx-corpus", "needs others' results; PublishedImportsTest"),
          entry("kbx-out/runs/RUN", "needs others' results; PublishedImportsTest"),
          entry("eval sources/", "needs what export wrote; MethodExportsTest"),
          entry("tokens revoke", "needs the token of that name; TokensTest"),
          entry("runs merge", "needs a new folder each; MergeRunsTest"),
          entry("--baseline expert", "needs a GPU and such kernels; ExpertBaselineTest"),
          entry("matrix ", "needs versions of Triton; MatrixTest"),
          entry("reproduce ", "needs a kernel that failed; MatrixTest"),
          entry("analyze portability", "needs several devices; AnalyzeRunsTest"),
          entry("analyze deviance single", "needs runs of three methods; AnalyzeRunsTest"));

  @TempDir private Path folder;

  private int outputs;

  private static List<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.walk(HOME.resolve("docs"))) {
      return Stream.concat(
              Stream.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md").map(HOME::resolve),
              docs.filter(file -> file.toString().endsWith(".md")))
          .sorted()
          .toList();
    }
  }

  /** The commands, as words, by page and text. */
  private static Map<String, List<String>> commands() throws IOException {
    Map<String, List<String>> found = new LinkedHashMap<>();
    for (Path page : pages()) {
      if (page.endsWith("commands.md") || page.endsWith("tutorial.md")) continue;
      String text = Files.readString(page);
      Stream.concat(
              FENCED.matcher(text).results().flatMap(block -> block.group(1).lines()),
              INDENTED.matcher(text).results().map(line -> line.group(1)))
          .map(line -> COMMAND.matcher(line.strip()))
          .filter(Matcher::matches)
          .map(line -> line.group(1).strip())
          .filter(line -> !line.equals("--"))
          .forEach(line -> found.put(HOME.relativize(page) + ": kbx " + line, words(line)));
    }
    assertThat(found).hasSizeGreaterThan(100);
    return found;
  }

  private static List<String> words(String line) {
    return WORD.matcher(line.replaceAll("\\[?RUN(\\.\\.\\.)?\\]?(?=\\s|$)", "RUN"))
        .results()
        .map(word -> word.group().replaceAll("^['\"]|['\"]$", ""))
        .toList();
  }

  @Test
  void linksLeadSomewhere() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path page : pages()) {
      String text = Files.readString(page).replaceAll("(?ms)^```.*?^```$", "");
      for (String link : LINK.matcher(text).results().map(found -> found.group(1)).toList()) {
        if (link.matches("[a-z]+:.*")) continue;
        String[] parts = link.split("#", 2);
        Path to = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
        boolean leads =
            Files.exists(to)
                && (parts.length == 1 || anchors(Files.readString(to)).contains(parts[1]));
        if (!leads) broken.add(HOME.relativize(page) + " -> " + link);
      }
    }
    assertThat(broken).isEmpty();
  }

  /** As GitHub makes them of headings. */
  private static Set<String> anchors(String page) {
    return HEADING
        .matcher(page)
        .results()
        .map(heading -> heading.group(1).toLowerCase(Locale.ROOT))
        .map(heading -> heading.replaceAll("\\[([^]]*)\\]\\([^)]*\\)", "$1"))
        .map(heading -> heading.replaceAll("[^\\p{L}\\p{N} _-]", "").strip().replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  @Test
  void everyPageIsInTheIndex() throws IOException {
    String index = Files.readString(HOME.resolve("docs/README.md"));
    for (Path page : pages()) {
      if (!page.startsWith(HOME.resolve("docs")) || page.endsWith("README.md")) continue;
      assertThat(index).contains("(" + HOME.resolve("docs").relativize(page) + ")");
    }
  }

  @Test
  void everyCommandIsOneThatKbxHas() throws IOException {
    CommandLine all = Main.all(WorkerSource.NEW);
    commands()
        .forEach((where, words) ->
            assertThatCode(() -> all.parseArgs(words.toArray(String[]::new)))
                .as(where)
                .doesNotThrowAnyException());
  }

  @Test
  void commandsRun() throws Exception {
    for (String out : List.of("kbx-out", "newer")) {
      SimulatedRun.on(SimulatedRun.H200, out.length())
          .correct("Math/exp", out, 1.5)
          .correct("Activation/gelu", "gelu", 1.2)
          .store(folder.resolve(out));
    }
    Set<String> unused = new TreeSet<>(ELSEWHERE.keySet());
    List<String> failed = new ArrayList<>();
    int ran = 0;
    for (Map.Entry<String, List<String>> command : commands().entrySet()) {
      String line = String.join(" ", command.getValue()) + " ";
      List<String> reasons = ELSEWHERE.keySet().stream().filter(line::contains).toList();
      unused.removeAll(reasons);
      if (!reasons.isEmpty()) continue;
      Kbx.Result result = Kbx.here(arguments(command.getValue()).toArray());
      if (result.exit() != 0) failed.add(command.getKey() + "\n" + result.err());
      ran++;
    }
    assertThat(failed).isEmpty();
    assertThat(ran).isGreaterThan(50);
    assertThat(unused).as("reasons for commands that are in no page").isEmpty();
  }

  /**
   * The command with files that exist, judging no more than sources: the rest has its own tests.
   */
  private List<Object> arguments(List<String> words) {
    List<Object> all = new ArrayList<>();
    boolean modules = words.contains("kernelbench");
    boolean own = words.contains("--reference");
    boolean backward = words.contains("--backward");
    for (String word : words) all.add(standIn(word, modules, own, backward));
    String first = words.getFirst();
    if (first.equals("eval")) all.addAll(List.of("--stages", "static", "--device", "cpu"));
    boolean printed = words.contains("md") || words.contains("text");
    if (first.equals("report") && !words.contains("--output") && !printed) {
      all.addAll(List.of("--output", folder.resolve("report" + outputs++ + ".html")));
    }
    boolean reads = Set.of("eval", "analyze", "report", "tokens").contains(first);
    boolean lists = first.equals("runs") && !words.contains("copy");
    if ((reads || lists) && !words.contains("--out")) {
      all.addAll(List.of("--out", folder.resolve(first.equals("eval") ? "judged" : "kbx-out")));
    }
    return all;
  }

  private Object standIn(String word, boolean modules, boolean own, boolean backward) {
    Path examples = HOME.resolve("examples");
    return switch (word) {
      case "RUN", "from-h200/RUN1" -> folder.resolve("kbx-out");
      case "NEWER_RUN", "from-h200/RUN2" -> folder.resolve("newer");
      case "DIR", "paper" -> folder.resolve("output" + outputs++);
      case "my_run-kbx" -> folder.resolve(word);
      case "predictions.jsonl" -> examples.resolve("two_samples.jsonl");
      case "my_ref.py" -> examples.resolve("own/rms_norm_ref.py");
      case "my_ref.py:rms_norm" -> examples.resolve("own/rms_norm_ref.py") + ":rms_norm";
      case "kernel.py", "my_kernel.py" ->
          examples.resolve(backward ? "own/rms_norm_backward.py" : "own/rms_norm.py");
      case "gelu.py", "candidate.py" -> examples.resolve("honest/gelu.py");
      case "kernels/", "kernels", "my_kernels/", "FOLDER", "runs/my_run" ->
          examples.resolve(modules ? "kernelbench/honest" : own ? "own/rms_norm.py" : "honest");
      case "RULE" -> "sleeping";
      case "RULE,RULE" -> "sleeping,network";
      default -> word;
    };
  }
}

package dev.kbx.cli;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.TestPython;
import dev.kbx.python.DevTools;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The commands of docs/tutorial.md print what the page shows. */
class TutorialTest {
  private static final Path FILES = Kbx.home().resolve("examples/tutorial");
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```\\n(.*?)^```$");
  private static final Pattern STEP = Pattern.compile("(?m)^## \\d+\\. ");
  private static final String KBX = "./kbx ";

  @TempDir private Path folder;

  /** A step of the page: its commands, and lines of what they print. */
  private record Step(String title, List<String> commands, List<String> shown) {
    static Step of(String text) {
      List<String> lines =
          BLOCK.matcher(text).results().flatMap(block -> block.group(1).lines()).toList();
      return new Step(
          text.lines().findFirst().orElseThrow(),
          lines.stream().filter(Step::isCommand).toList(),
          lines.stream().filter(line -> !isCommand(line)).toList());
    }

    private static boolean isCommand(String line) {
      return Stream.of(KBX, "pip ", "python3 ").anyMatch(line::startsWith);
    }

    /** Fails unless each line is in the output; an ellipsis stands for anything. */
    void assertShownIn(String output) {
      String printed = collapsed(output);
      for (String line : shown) {
        for (String part : line.split("…", -1)) {
          assertThat(printed).as(title).contains(collapsed(part));
        }
      }
    }

    private static String collapsed(String text) {
      return text.strip().replaceAll("\\s+", " ");
    }
  }

  private static List<Step> steps() throws IOException {
    String page = Files.readString(Kbx.home().resolve("docs/tutorial.md"));
    List<Step> steps = STEP.splitAsStream(page).skip(1).map(Step::of).toList();
    assertThat(steps).hasSize(8).allSatisfy(step -> assertThat(step.shown()).isNotEmpty());
    return steps;
  }

  @Test
  void stepsPrintWhatThePageShows() throws Exception {
    for (Step step : steps().subList(0, 7)) {
      StringBuilder printed = new StringBuilder();
      for (String command : step.commands()) {
        Kbx.Result result = Kbx.here(arguments(command).toArray());
        assertThat(result.exit()).as("%s%n%s", command, result.err()).isZero();
        printed.append(result.out()).append('\n');
      }
      step.assertShownIn(printed.toString());
    }
    assertThat(folder.resolve("tutorial.html")).content().contains("softmax");
  }

  /** The command, with its files in the test's folder. */
  private List<Object> arguments(String command) {
    List<Object> words = new ArrayList<>();
    for (String word : command.substring(KBX.length()).split(" ", -1)) {
      boolean written = word.equals("tutorial.html") || word.equals("kbx-models");
      words.add(written ? folder.resolve(word) : word);
    }
    if (!words.contains("--out")) words.addAll(List.of("--out", folder.resolve("kbx-out")));
    if (words.getFirst().equals("eval")) {
      words.addAll(List.of("--device", "cpu", "--seed", Kbx.SEED));
    }
    return words;
  }

  @Test
  @Tag("soak-only")
  void rewardsAreThoseOfThePageAndItsNotebook() throws Exception {
    Step step = steps().getLast();
    assertThat(step.commands())
        .containsExactly(
            "./kbx serve", "pip install ./clients/python", "python3 examples/tutorial/reward.py");
    Path notebook = folder.resolve("notebook.py");
    Files.writeString(notebook, notebook());
    try (ServedKbx server = ServedKbx.start(folder)) {
      step.assertShownIn(python(server, FILES.resolve("reward.py")));
      assertThat(python(server, notebook))
          .contains("careful Math/softmax.py correct")
          .contains("'careful': 0.6")
          .endsWith("[0.6, 0.6]\n");
    }
  }

  /** The code of the notebook's cells, as a notebook runs it, with the last value of each. */
  private static String notebook() throws IOException {
    JsonNode all =
        JsonMapper.builder().build().readTree(Files.readString(FILES.resolve("reward.ipynb")));
    String cells =
        StreamSupport.stream(all.get("cells").spliterator(), false)
            .filter(cell -> cell.get("cell_type").asString().equals("code"))
            .map(cell -> JsonMapper.builder().build().writeValueAsString(source(cell)))
            .collect(joining(", "));
    return """
    import ast, asyncio, inspect

    space = {}
    for number, cell in enumerate([%s]):
        tree = ast.parse(cell)
        if isinstance(tree.body[-1], ast.Expr):
            tree.body[-1] = ast.parse("print(repr(_))").body[0]
            tree.body[-1].value.args[0].args[0] = ast.parse(cell).body[-1].value
        code = compile(ast.fix_missing_locations(tree), f"cell {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(code, space)
        if inspect.iscoroutine(value):
            asyncio.run(value)
    """
        .formatted(cells);
  }

  private static String source(JsonNode cell) {
    return StreamSupport.stream(cell.get("source").spliterator(), false)
        .map(JsonNode::asString)
        .collect(joining());
  }

  private static String python(ServedKbx server, Path script)
      throws IOException, InterruptedException {
    Path tools =
        DevTools.install(TestPython.interpreter(), TestPython.home(), TestPython.progress());
    ProcessBuilder builder =
        new ProcessBuilder(
            TestPython.interpreter().executable().toString(), "-B", script.toString());
    builder.directory(FILES.toFile()).redirectErrorStream(true);
    builder.environment().put("KBX_URL", server.url());
    Path client = TestPython.home().resolve("clients/python/src");
    builder.environment().put("PYTHONPATH", client + File.pathSeparator + tools);
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }
}

package dev.kbx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/** Runs the checks of one Python project of this repository, each as a process of its own. */
public final class PythonChecks {
  private static final int TAIL_LINES = 60;

  /** A line of mypy's: file, line, and what is wrong there. */
  private static final Pattern FOUND = Pattern.compile("(\\S+\\.pyi?):\\d+: (error|note): .*");

  private final Path project;
  private final Map<String, String> environment;

  /**
   * @param packages folders of packages beside the interpreter's own, the first one first
   */
  public PythonChecks(Path project, Map<String, String> environment, Path... packages) {
    this.project = project;
    this.environment = new HashMap<>(environment);
    String path = String.join(":", Stream.of(packages).map(Path::toString).toList());
    this.environment.put("PYTHONPATH", path);
    if (Boolean.getBoolean("kbx.soak")) this.environment.put("KBX_SOAK", "1");
  }

  /**
   * A test for each test of pytest, by its name there, and one that fails if pytest ends otherwise
   * than its tests say.
   *
   * @param command runs pytest
   * @param report new file
   */
  public List<DynamicTest> pytest(Path report, String... command) throws Exception {
    List<DynamicTest> tests = new ArrayList<>();
    try {
      assertPasses(
          Stream.concat(Stream.of(command), Stream.of("--junitxml=" + report))
              .toArray(String[]::new));
      tests.add(DynamicTest.dynamicTest("pytest ends well", () -> {}));
    } catch (AssertionError e) {
      tests.add(
          DynamicTest.dynamicTest(
              "pytest ends well",
              () -> {
                throw e;
              }));
    }
    if (!Files.exists(report)) return tests;
    NodeList cases =
        DocumentBuilderFactory.newDefaultInstance()
            .newDocumentBuilder()
            .parse(report.toFile())
            .getElementsByTagName("testcase");
    for (int i = 0; i < cases.getLength(); i++) tests.add(test((Element) cases.item(i)));
    return tests;
  }

  private static DynamicTest test(Element testcase) {
    String name = testcase.getAttribute("classname") + "::" + testcase.getAttribute("name");
    return DynamicTest.dynamicTest(
        name,
        () -> {
          for (String bad : List.of("failure", "error")) {
            Node found = testcase.getElementsByTagName(bad).item(0);
            if (found != null) fail(name + "\n" + found.getTextContent());
          }
          Node skipped = testcase.getElementsByTagName("skipped").item(0);
          if (skipped != null) Assumptions.abort(((Element) skipped).getAttribute("message"));
        });
  }

  /**
   * A test for each file in which mypy finds something, by the file's name, and one that fails if
   * mypy ends otherwise than well.
   *
   * @param cache folder for what mypy keeps, relative to the project
   */
  public List<DynamicTest> mypy(String python, String cache) throws Exception {
    String[] command = {python, "-m", "mypy", "--no-pretty", "--cache-dir", cache};
    Run run = run(command);
    Map<String, List<String>> found = new TreeMap<>();
    for (String line : run.lines) {
      Matcher matcher = FOUND.matcher(line);
      if (matcher.matches()) {
        found.computeIfAbsent(matcher.group(1), _ -> new ArrayList<>()).add(line);
      }
    }
    List<DynamicTest> tests = new ArrayList<>();
    tests.add(DynamicTest.dynamicTest("mypy ends well", () -> assertPassed(run, command)));
    found.forEach((file, lines) ->
        tests.add(DynamicTest.dynamicTest(file, () -> fail(String.join("\n", lines)))));
    return tests;
  }

  /** Fails with the last lines of the output unless the command exits with 0. */
  public void assertPasses(String... command) throws Exception {
    Run run = run(command);
    assertPassed(run, command);
    run.lines.stream()
        .skip(Math.max(0, run.lines.size() - 1))
        .forEach(line -> System.err.println(project.getFileName() + ": " + line));
  }

  private static void assertPassed(Run run, String... command) {
    List<String> tail =
        run.lines.subList(Math.max(0, run.lines.size() - TAIL_LINES), run.lines.size());
    assertThat(run.code).as("%s\n%s", String.join(" ", command), String.join("\n", tail)).isZero();
  }

  /** What a command printed, and its exit code. */
  private record Run(List<String> lines, int code) {}

  private Run run(String... command) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).directory(project.toFile());
    builder.redirectErrorStream(true).environment().putAll(environment);
    // Asserts are rewritten at each start where nothing is kept: six seconds for each of pytest's
    // processes.
    builder.environment().remove("PYTHONDONTWRITEBYTECODE");
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      List<String> lines = lines(process);
      return new Run(lines, process.waitFor());
    } finally {
      process.destroyForcibly();
    }
  }

  private static List<String> lines(Process process) {
    try (Stream<String> lines = process.inputReader(StandardCharsets.UTF_8).lines()) {
      return lines.toList();
    }
  }
}

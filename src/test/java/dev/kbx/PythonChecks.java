package dev.kbx;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Runs the checks of one Python project of this repository, each as a process of its own. */
public final class PythonChecks {
  private static final int TAIL_LINES = 60;

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

  /** Fails with the last lines of the output unless the command exits with 0. */
  public void assertPasses(String... command) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).directory(project.toFile());
    builder.redirectErrorStream(true).environment().putAll(environment);
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      List<String> lines = lines(process);
      List<String> tail = lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size());
      assertThat(process.waitFor())
          .as("%s\n%s", String.join(" ", command), String.join("\n", tail))
          .isZero();
      tail.stream()
          .skip(Math.max(0, tail.size() - 1))
          .forEach(line -> System.err.println(project.getFileName() + ": " + line));
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

package dev.kbx.cli;

import dev.kbx.TestProgram;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code kbx} as a user runs it: a process of its own, from the jar files under test. */
final class Kbx {
  private static final String MAIN = "dev.kbx.cli.Main";
  private static final String HEAP = "512m";
  private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");

  /**
   * What inputs derive from where a test is about many tasks, so that it finds the same every time.
   * {@code bench/seeds.sh} looks for the values under which something differs.
   */
  static final String SEED = "tests";

  private static final KeptWorkers WORKERS = new KeptWorkers();

  private Kbx() {}

  /** How a command ended. */
  record Result(int exit, String out, String err) {
    JsonNode json() {
      return JsonMapper.builder().build().readTree(out);
    }
  }

  /** Runs a command in a folder and waits for its end. */
  static Result run(Path folder, Object... arguments) throws IOException, InterruptedException {
    return run(folder, Map.of(), arguments);
  }

  static Result run(Path folder, Map<String, String> environment, Object... arguments)
      throws IOException, InterruptedException {
    return run(folder, environment, TestProgram.command(HEAP, MAIN), arguments);
  }

  private static Result run(
      Path folder, Map<String, String> environment, List<String> program, Object[] arguments)
      throws IOException, InterruptedException {
    Path out = Files.createTempFile("kbx-test", ".out");
    Path err = Files.createTempFile("kbx-test", ".err");
    try {
      Process process = start(folder, environment, out, err, program, arguments);
      if (!process.waitFor(10, TimeUnit.MINUTES)) {
        process.destroyForcibly();
        String said = read(err);
        throw new AssertionError(
            "kbx did not end, and last said: " + said.substring(Math.max(0, said.length() - 1000)));
      }
      return new Result(process.exitValue(), read(out), read(err));
    } finally {
      Files.delete(out);
      Files.delete(err);
    }
  }

  /**
   * Runs a command in this process, which saves the start of a JVM and all it has compiled. Its
   * workers are as real as a user's; they serve the next command, too, as their start takes
   * seconds. For commands that only read and write the files they are told: paths are this
   * process's, not some folder's.
   */
  static Result here(Object... arguments) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    var said = new ByteArrayOutputStream();
    var complained = new ByteArrayOutputStream();
    try {
      System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
      System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
      int exit =
          Main.run(WORKERS, Arrays.stream(arguments).map(Object::toString).toArray(String[]::new));
      return new Result(
          exit, said.toString(StandardCharsets.UTF_8), complained.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  /** Runs a command by another build of the program, whose modules are folders of classes. */
  static Result runProgram(List<Path> modules, Object... arguments)
      throws IOException, InterruptedException {
    String classPath =
        Stream.concat(
                modules.stream().map(Path::toString),
                Stream.of(System.getProperty("java.class.path")))
            .collect(Collectors.joining(File.pathSeparator));
    List<String> program =
        List.of(
            JAVA.toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-Dkbx.home=" + home(),
            "-cp",
            classPath,
            MAIN);
    return run(home(), Map.of(), program, arguments);
  }

  /** Starts a command whose end the test sees to. */
  static Process start(
      Path folder, Map<String, String> environment, Path out, Path err, Object... arguments)
      throws IOException {
    return start(folder, environment, out, err, TestProgram.command(HEAP, MAIN), arguments);
  }

  /**
   * Starts a command that the test writes to and reads from.
   *
   * @param options of the JVM
   */
  static Process piped(Path folder, Path err, List<String> options, Object... arguments)
      throws IOException {
    List<String> command = TestProgram.command(HEAP, MAIN);
    command.addAll(1, options);
    for (Object argument : arguments) command.add(argument.toString());
    return new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectError(err.toFile())
        .start();
  }

  private static Process start(
      Path folder,
      Map<String, String> environment,
      Path out,
      Path err,
      List<String> program,
      Object[] arguments)
      throws IOException {
    List<String> command = new ArrayList<>(program);
    for (Object argument : arguments) command.add(argument.toString());
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.directory(folder.toFile());
    builder.environment().putAll(environment);
    builder.redirectOutput(out.toFile()).redirectError(err.toFile());
    return builder.start();
  }

  /** The checkout. */
  static Path home() {
    return Path.of("").toAbsolutePath();
  }

  private static String read(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }
}

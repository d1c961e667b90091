package dev.kbx.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.TestProgram;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The process that judges for {@code kbx eval} and stays. */
@Timeout(Patience.SECONDS)
class DaemonTest {
  private static final Path GELU = Kbx.home().resolve("corpus/honest/plain/gelu.py");

  /** Enough that a command still judges when a test has seen the first verdicts. */
  private static final int FOLDERS = 45;

  private static final String SIMULATED = "-Dkbx.workers=" + Kbx.home().resolve("bench/simulated");
  private static final String ENABLED = "-Dkbx.daemon=true";

  @TempDir private Path folder;
  private Path runtime;
  private final Map<String, String> environment = new HashMap<>();

  @BeforeEach
  void makeFolder() throws IOException {
    runtime = Files.createDirectory(folder.resolve("run"));
    environment.putAll(
        Map.of("XDG_RUNTIME_DIR", runtime.toString(), "CI", "", "KBX_NO_DAEMON", ""));
  }

  @AfterEach
  void endDaemons() {
    daemons().forEach(ProcessHandle::destroyForcibly);
    patiently().until(() -> daemons().isEmpty());
  }

  @Test
  void aWarmCommandSaysWhatAColdOneSays() throws Exception {
    Ended cold = run("cold", List.of(ENABLED), GELU, "--json", "--no-daemon");
    assertThat(daemons()).isEmpty();
    Ended first = run("first", List.of(ENABLED), GELU, "--json");
    List<ProcessHandle> daemon = daemons();
    assertThat(daemon).hasSize(1);
    long processes = daemon.getFirst().descendants().count();
    Ended second = run("second", List.of(ENABLED), GELU, "--json");

    assertThat(daemons()).isEqualTo(daemon);
    assertThat(cold.exit()).isZero();
    for (Ended warm : List.of(first, second)) {
      assertThat(warm.exit()).as(warm.err()).isZero();
      assertThat(withoutTimes(warm.out())).isEqualTo(withoutTimes(cold.out()));
      assertThat(warm.err()).isEqualTo(cold.err());
    }
    assertThat(daemon.getFirst().descendants().count()).isEqualTo(processes);
  }

  /** Without what differs between any two runs. */
  private static String withoutTimes(String json) {
    assertThat(Json.mapper().readTree(json).toString()).contains("\"correct\"");
    return json.replaceAll("\"seconds\" ?: ?\\{[^}]*}", "")
        .replaceAll("\\b[0-9]+\\.[0-9e-]+\\b", "")
        .replaceAll("20[0-9]{6}T[0-9]{6}-\\w+|20[0-9-]{8}T[0-9:.]+Z", "")
        .replaceAll("/(cold|first|second)\\b", "");
  }

  @Test
  void wrongUsageAndUnreadableSourcesHaveTheirExitCodes() throws Exception {
    Ended cold = run("cold", List.of(ENABLED, SIMULATED), folder.resolve("none"), "--no-daemon");
    Ended warm = run("warm", List.of(ENABLED, SIMULATED), folder.resolve("none"));
    assertThat(daemons()).hasSize(1);
    assertThat(warm).isEqualTo(cold);
    assertThat(warm.exit()).isEqualTo(ExitCode.USAGE);
    Ended unknown = run("warm", List.of(ENABLED, SIMULATED), "--no-such-option");
    assertThat(unknown)
        .isEqualTo(run("warm", List.of(ENABLED, SIMULATED), "--no-such-option", "--no-daemon"));
  }

  @Test
  void itEndsWhenItIsIdle() throws Exception {
    environment.put("KBX_DAEMON_IDLE", "2");
    assertThat(run("out", List.of(ENABLED, SIMULATED), GELU).exit()).isZero();
    assertThat(daemons()).hasSize(1);
    List<ProcessHandle> workers = daemons().getFirst().descendants().toList();
    assertThat(workers).isNotEmpty();
    patiently().until(() -> daemons().isEmpty());
    patiently().until(() -> workers.stream().noneMatch(ProcessHandle::isAlive));
    assertThat(socket()).doesNotExist();
  }

  @Test
  void aKilledOneIsReplaced() throws Exception {
    assertThat(run("one", List.of(ENABLED, SIMULATED), GELU).exit()).isZero();
    ProcessHandle killed = daemons().getFirst();
    killed.destroyForcibly();
    patiently().until(() -> !killed.isAlive());
    assertThat(socket()).exists();

    Ended next = run("two", List.of(ENABLED, SIMULATED), GELU);
    assertThat(next.exit()).isZero();
    assertThat(next.err()).doesNotContain("daemon");
    assertThat(daemons()).hasSize(1).doesNotContain(killed);
  }

  @Test
  void aCommandWhoseDaemonIsKilledCanBeResumed() throws Exception {
    Process command = judging("out");
    daemons().forEach(ProcessHandle::destroyForcibly);
    assertThat(command.waitFor()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(err("out")).contains("--resume goes on where this stopped");
    assertThat(run("out", List.of(ENABLED, SIMULATED), many("--resume")).exit()).isZero();
  }

  @Test
  void anInterruptedCommandEndsItsDaemonAndCanBeResumed() throws Exception {
    Process command = judging("out");
    command.destroy();
    assertThat(command.waitFor()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(err("out")).contains("kbx: " + Interrupts.RESUMABLE);
    patiently().until(() -> daemons().isEmpty());
    assertThat(run("out", List.of(ENABLED, SIMULATED), many("--resume")).exit()).isZero();
  }

  @Test
  void theDaemonOfAKilledCommandEnds() throws Exception {
    Process command = judging("out");
    List<ProcessHandle> all = daemons().stream().flatMap(ProcessHandle::descendants).toList();
    command.destroyForcibly().waitFor();
    patiently().until(() -> daemons().isEmpty());
    patiently().until(() -> all.stream().noneMatch(ProcessHandle::isAlive));
  }

  @Test
  void whileItIsBusyACommandRunsByItself() throws Exception {
    Process one = judging("one");
    List<ProcessHandle> workers = daemons().getFirst().descendants().toList();
    signal("STOP", workers);
    Ended two = run("two", List.of(ENABLED, SIMULATED), GELU);
    assertThat(one.isAlive()).isTrue();
    assertThat(two.exit()).isZero();
    assertThat(two.out()).contains("gelu");
    signal("CONT", workers);
    assertThat(one.waitFor()).isZero();
    assertThat(daemons()).hasSize(1);
  }

  @Test
  void anotherEnvironmentHasAnotherDaemon() throws Exception {
    assertThat(run("one", List.of(ENABLED, SIMULATED), GELU).exit()).isZero();
    List<ProcessHandle> first = daemons();
    environment.put("KBX_SOMETHING", "else");
    assertThat(run("two", List.of(ENABLED, SIMULATED), GELU).exit()).isZero();
    patiently().until(() -> first.stream().noneMatch(ProcessHandle::isAlive));
    assertThat(daemons()).hasSize(1);
  }

  private static void signal(String name, List<ProcessHandle> processes) throws Exception {
    List<String> command = new ArrayList<>(List.of("kill", "-" + name));
    processes.forEach(process -> command.add(String.valueOf(process.pid())));
    assertThat(new ProcessBuilder(command).start().waitFor()).isZero();
  }

  /** A command that has a daemon judge many candidates, of which it has judged some. */
  private Process judging(String name) throws IOException {
    Process command = start(name, List.of(ENABLED, SIMULATED), many());
    patiently().pollInterval(Duration.ofMillis(10)).until(() -> err(name).contains("[3/"));
    assertThat(daemons()).hasSize(1);
    return command;
  }

  /** The sources of {@link #judging}, and options. */
  private static Object[] many(String... options) throws IOException {
    try (Stream<Path> folders = Files.list(Kbx.home().resolve("corpus/honest"))) {
      return Stream.concat(folders.sorted().limit(FOLDERS), Stream.of(options)).toArray();
    }
  }

  private record Ended(int exit, String out, String err) {}

  private Ended run(String name, List<String> options, Object... arguments)
      throws IOException, InterruptedException {
    Process process = start(name, options, arguments);
    assertThat(process.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    return new Ended(
        process.exitValue(), Files.readString(folder.resolve(name + ".out"), UTF_8), err(name));
  }

  private Process start(String name, List<String> options, Object... arguments) throws IOException {
    List<String> command = TestProgram.command("320m", "dev.kbx.cli.Main");
    command.addAll(1, options);
    command.add("eval");
    for (Object argument : arguments) command.add(argument.toString());
    command.addAll(
        List.of("--device", "cpu", "--seed", Kbx.SEED, "--out", folder.resolve(name).toString()));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().putAll(environment);
    return builder
        .redirectOutput(folder.resolve(name + ".out").toFile())
        .redirectError(folder.resolve(name + ".err").toFile())
        .start();
  }

  private String err(String name) throws IOException {
    return Files.readString(folder.resolve(name + ".err"), UTF_8);
  }

  private Path socket() throws IOException {
    try (Stream<Path> found = Files.list(runtime)) {
      return found.findAny().orElseThrow().resolve("socket");
    }
  }

  /** The daemons of this test. */
  private List<ProcessHandle> daemons() {
    List<ProcessHandle> found = new ArrayList<>();
    ProcessHandle.allProcesses()
        .filter(process -> read(process, "cmdline").contains("dev.kbx.cli.Daemon"))
        .filter(process -> read(process, "environ").contains("XDG_RUNTIME_DIR=" + runtime))
        .forEach(found::add);
    return found;
  }

  private static String read(ProcessHandle process, String name) {
    try {
      return Files.readString(Path.of("/proc", String.valueOf(process.pid()), name), UTF_8);
    } catch (IOException e) {
      return ""; // It has ended, or is another user's.
    }
  }

  private static ConditionFactory patiently() {
    return await().atMost(Patience.SECONDS, TimeUnit.SECONDS);
  }
}

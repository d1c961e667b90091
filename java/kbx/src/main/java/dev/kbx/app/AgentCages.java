package dev.kbx.app;

import dev.kbx.error.EnvironmentException;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.llm.ModelGateway;
import dev.kbx.python.Interpreter;
import dev.kbx.verdict.Json;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Sandboxes of agents: what their programs see of this machine. That is the system, Python, the
 * program itself and what the user names; no home folder, nothing of kbx, no results.
 */
final class AgentCages {
  /** Above the user ids of runners and oracles. */
  private static final int UID = 62_900;

  private static final long MEMORY = 8L << 30;
  private static final long FILES = 1L << 30;
  private static final int PROCESSES = 512;
  private static final int PROBE_SECONDS = 60;
  private static final String TOOL = "kbx-judge";
  private static final String TOOLS = "/tmp/agent/bin";

  /** Folders of the system that every sandbox shows, with their programs first. */
  private static final List<String> SYSTEM =
      List.of("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin");

  private final Home home;
  private final Interpreter python;
  private final Path out;

  private AgentCages(Home home, Interpreter python, Path out) {
    this.home = home;
    this.python = python;
    this.out = out.toAbsolutePath().normalize();
  }

  /**
   * Sandboxes of this machine.
   *
   * @throws EnvironmentException if it has none
   */
  static AgentCages of(Home home, Interpreter python, Path out) throws InterruptedException {
    AgentCages cages = new AgentCages(home, python, out);
    Optional<String> problem = cages.problem();
    if (problem.isEmpty()) return cages;
    throw new EnvironmentException(
        "--method agent: this machine cannot shut a program in: %s; it needs user, mount, process and network namespaces and a filter of system calls, as 'kbx doctor' says"
            .formatted(problem.get()));
  }

  private Optional<String> problem() throws InterruptedException {
    List<String> command = Stream.concat(launcher().stream(), Stream.of("--probe")).toList();
    try {
      Process probe = new ProcessBuilder(command).redirectErrorStream(true).start();
      if (!probe.waitFor(PROBE_SECONDS, TimeUnit.SECONDS)) {
        probe.destroyForcibly();
        return Optional.of("a sandbox does not start within %d s".formatted(PROBE_SECONDS));
      }
      String said = new String(probe.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      String last = said.strip().lines().reduce("no answer", (_, line) -> line);
      JsonNode line = Json.mapper().readTree(last);
      boolean started = line.path("event").asString("").equals("started");
      return started ? Optional.empty() : Optional.of(line.path("what").asString(last));
    } catch (IOException | JacksonException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  private List<String> launcher() {
    String cage = home.folder().resolve("worker/kbx/agent/cage.py").toString();
    return List.of(python.executable().toString(), "-I", cage);
  }

  /**
   * The command, to be started in a sandbox.
   *
   * @param preset whose command it is; null for any other
   * @param files what the user names beside the program
   * @param gateway to the program's model; null if it has none
   */
  PreparedMethod.ProgramCommand shutIn(
      PreparedMethod.ProgramCommand command,
      @Nullable AgentPreset preset,
      List<Path> files,
      @Nullable ModelGateway gateway) {
    Set<String> visible = new LinkedHashSet<>();
    String bin = String.valueOf(python.executable().toAbsolutePath().getParent());
    files.forEach(file -> visible.add(file.toAbsolutePath().normalize().toString()));
    List<String> path = new ArrayList<>(List.of(TOOLS, bin));
    List<String> words = new ArrayList<>();
    for (String word : command.words()) {
      Optional<Path> file = words.isEmpty() ? program(word, path) : file(word);
      file.ifPresent(found -> visible.addAll(shown(found)));
      String named = file.map(Path::toString).orElse(word);
      words.add(preset == null ? named : preset.filled(named, gateway));
    }
    files.stream()
        .map(file -> file.toAbsolutePath().normalize())
        .flatMap(file -> Stream.of(file, file.resolve("bin")))
        .filter(Files::isDirectory)
        .forEach(folder -> path.add(folder.toString()));
    path.addAll(SYSTEM);
    List<String> hidden =
        Stream.concat(home.stateFolders().stream(), Stream.of(out)).map(Path::toString).toList();
    return command
        .with(words)
        .in(
            new PreparedMethod.Cage(
                launcher(),
                List.copyOf(visible),
                hidden,
                path,
                preset == null ? Map.of() : preset.environment(gateway),
                tools(),
                preset == null ? Map.of() : preset.settings(),
                UID,
                MEMORY,
                FILES,
                PROCESSES,
                gateway));
  }

  private Map<String, String> tools() {
    Path script = home.folder().resolve("worker/kbx/agent/kbx_judge.py");
    String start =
        "#!/bin/sh\nexec '%s' -I -S %s/%s.py \"$@\"\n".formatted(python.executable(), TOOLS, TOOL);
    try {
      return Map.of(TOOL, start, TOOL + ".py", Files.readString(script));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The file of a program that the sandbox's own folders do not have. */
  private Optional<Path> program(String word, List<String> inside) {
    if (word.contains("/")) return file(word);
    Stream<String> own = Stream.concat(inside.stream(), SYSTEM.stream());
    if (own.anyMatch(folder -> Files.isExecutable(Path.of(folder, word)))) return Optional.empty();
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of(path.split(File.pathSeparator, -1))
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder, word).toAbsolutePath())
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** The file that a word of the command names. */
  private static Optional<Path> file(String word) {
    try {
      Path file = Path.of(word).toAbsolutePath().normalize();
      return !word.isBlank() && Files.isRegularFile(file) ? Optional.of(file) : Optional.empty();
    } catch (InvalidPathException e) {
      return Optional.empty();
    }
  }

  /** A program's file; of an npm package those beside it, too. */
  private static List<String> shown(Path file) {
    try {
      Path real = file.toRealPath();
      for (Path at = real.getParent(); at != null; at = at.getParent()) {
        if (at.endsWith("node_modules"))
          return List.of(file.toString(), real.toString(), at.toString());
      }
      return List.of(file.toString(), real.toString());
    } catch (IOException e) {
      return List.of(file.toString());
    }
  }
}

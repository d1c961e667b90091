package dev.kbx.app;

import dev.kbx.python.Interpreter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What keeps kbx's secrets from a program of the user's that is a method: the secret of seeds, the
 * signing key, the results, and keys in the environment. The program is not the user: a model may
 * have written what it runs.
 */
public final class ProgramScreen {
  /** Names of environment variables that hold keys. */
  private static final Pattern SECRET =
      Pattern.compile(".*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL).*|KBX_STORE|DATABASE_URL");

  private static final int PROBE_SECONDS = 30;

  private final List<String> prefix;

  private ProgramScreen(List<String> prefix) {
    this.prefix = prefix;
  }

  /**
   * A screen before kbx's state and the results.
   *
   * @param out folder of the results
   * @param notice receives one line if this machine refuses it
   */
  static ProgramScreen of(Home home, Interpreter python, Path out, Consumer<String> notice)
      throws InterruptedException {
    List<String> command = command(home, python, hidden(home, out));
    Optional<String> problem = problem(command);
    problem.ifPresent(why ->
        notice.accept(
            "--program: this machine refuses namespaces (%s): the program can read kbx's secret of seeds, signing key and results"
                .formatted(why)));
    return new ProgramScreen(problem.isPresent() ? List.of() : command);
  }

  /** Why this machine refuses it; empty if it does not. */
  public static Optional<String> problem(Home home, Interpreter python)
      throws InterruptedException {
    return problem(
        command(home, python, home.stateFolders().stream().map(Path::toString).toList()));
  }

  private static Optional<String> problem(List<String> command) throws InterruptedException {
    try {
      Process probe =
          new ProcessBuilder(Stream.concat(command.stream(), Stream.of("true")).toList())
              .redirectErrorStream(true)
              .start();
      String said = new String(probe.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!probe.waitFor(PROBE_SECONDS, TimeUnit.SECONDS)) probe.destroyForcibly();
      else if (probe.exitValue() == 0) return Optional.empty();
      return Optional.of(said.strip().lines().reduce("no answer", (_, last) -> last));
    } catch (IOException e) {
      return Optional.of(Reason.of(e));
    }
  }

  private static List<String> command(Home home, Interpreter python, List<String> hidden) {
    List<String> words = new ArrayList<>(List.of(python.executable().toString(), "-I", "-S"));
    words.add(home.folder().resolve("worker/kbx/hiding.py").toString());
    for (String path : hidden) words.addAll(List.of("--hide", path));
    words.add("--");
    return List.copyOf(words);
  }

  /** All of the results, or, if the program starts among them, what kbx keeps there. */
  private static List<String> hidden(Home home, Path out) {
    Path folder = out.toAbsolutePath().normalize();
    Stream<Path> results =
        Path.of("").toAbsolutePath().startsWith(folder)
            ? Stream.of("runs", "kbx.db", "kbx.db-wal", "kbx.db-shm").map(folder::resolve)
            : Stream.of(folder);
    return Stream.concat(home.stateFolders().stream(), results).map(Path::toString).toList();
  }

  /** The command that starts a program behind the screen. */
  List<String> before(List<String> words) {
    return Stream.concat(prefix.stream(), words.stream()).toList();
  }

  /**
   * Which environment variables a program gets.
   *
   * @param asked names of variables with keys that it is to have
   */
  public static Predicate<String> environment(Set<String> asked) {
    return name -> asked.contains(name) || !SECRET.matcher(name.toUpperCase(Locale.ROOT)).matches();
  }

  /** Names of a list that no variable has. */
  public static List<String> absent(Set<String> asked, Map<String, String> environment) {
    return asked.stream().filter(name -> !environment.containsKey(name)).toList();
  }
}

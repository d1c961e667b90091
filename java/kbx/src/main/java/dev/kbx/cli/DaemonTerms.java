package dev.kbx.cli;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Which commands a daemon may run, and for whom: only one that would find all as the command itself
 * does. Both sides determine {@link #ofThisProcess} and compare.
 */
final class DaemonTerms {
  /** Set by the launcher. A program that starts kbx's classes itself gets no daemon. */
  private static final String ENABLED = "kbx.daemon";

  /** Not empty: no daemon. */
  static final String VARIABLE = "KBX_NO_DAEMON";

  static final String OPTION = "--no-daemon";

  /**
   * Options with which a command is run by itself: it stays, it judges elsewhere or by somebody's
   * own code, which could leave something in the oracle, or it only prints.
   */
  private static final Set<String> ALONE =
      Set.of(
          OPTION,
          "--watch",
          "--cluster",
          "--reference",
          "--backward",
          "--help",
          "-h",
          "--version",
          "-V");

  /** Variables that differ from terminal to terminal, and that nothing of kbx reads. */
  private static final Set<String> OF_TERMINAL =
      Set.of(
          "_",
          "SHLVL",
          "OLDPWD",
          "COLUMNS",
          "LINES",
          "WINDOWID",
          "WINDOW",
          "STY",
          "TMUX",
          "TMUX_PANE",
          "SSH_CLIENT",
          "SSH_CONNECTION",
          "SSH_TTY",
          "GPG_TTY",
          "XDG_SESSION_ID",
          "TERM_SESSION_ID",
          VARIABLE);

  /** Variables with which the JVM itself does something at its end, or says so at its start. */
  private static final List<String> OF_JVM =
      List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

  private static final List<String> GPUS = List.of("/dev/nvidiactl", "/dev/dxg", "/dev/kfd");

  /** Lines of {@code /proc/self/status} that children inherit. */
  private static final List<String> INHERITED =
      List.of(
          "Uid:",
          "Gid:",
          "Groups:",
          "Umask:",
          "CapEff:",
          "NoNewPrivs:",
          "Seccomp:",
          "Cpus_allowed:",
          "Mems_allowed:");

  private static final List<String> NAMESPACES =
      List.of("cgroup", "ipc", "mnt", "net", "pid", "user", "uts");

  private static final String CPU_TIME = "Max cpu time";

  /** Longest path of a Unix socket, in bytes. */
  private static final int LONGEST = 100;

  private DaemonTerms() {}

  /** Whether a daemon may run this process's command. */
  static boolean allow(String[] arguments) {
    return Boolean.getBoolean(ENABLED) && allow(arguments, System.getenv());
  }

  /** Whether a daemon may run a command that the launcher starts in an environment. */
  static boolean allow(String[] arguments, Map<String, String> environment) {
    return arguments.length > 0
        && arguments[0].equals("eval")
        && Stream.concat(Stream.of(VARIABLE, "CI"), OF_JVM.stream())
            .allMatch(variable -> given(environment, variable).isEmpty())
        && GPUS.stream().noneMatch(gpu -> Files.exists(Path.of(gpu)))
        && Arrays.stream(arguments).allMatch(DaemonTerms::allowed)
        && bundled(arguments);
  }

  /** A variable's value, if it has one. */
  private static Optional<String> given(Map<String, String> environment, String variable) {
    return Optional.ofNullable(environment.get(variable)).filter(value -> !value.isEmpty());
  }

  private static boolean allowed(String argument) {
    String name = argument.split("=", 2)[0];
    return !ALONE.contains(name)
        && !name.startsWith("--cluster")
        && !argument.startsWith("@") // A file of arguments.
        // What these name is the process's own, as in <(command).
        && !argument.contains("/dev/")
        && !argument.contains("/proc/");
  }

  /** Whether the suite is one of kbx's, if one is named: the code of another is somebody's own. */
  private static boolean bundled(String[] arguments) {
    for (int i = 0; i < arguments.length; i++) {
      String named =
          arguments[i].startsWith("--suite=")
              ? arguments[i].substring("--suite=".length())
              : arguments[i].equals("--suite") && i + 1 < arguments.length
                  ? arguments[i + 1]
                  : null;
      if (named != null
          && (!named.matches("\\w+") || !Files.isDirectory(home().resolve("tasks", named)))) {
        return false;
      }
    }
    return true;
  }

  private static Path home() {
    return Path.of(System.getProperty("kbx.home", "")).toAbsolutePath();
  }

  /**
   * The folder of the socket, of this user alone; made if need be. Empty where none can be had.
   * There is one daemon for each user and checkout or bundle.
   */
  static Optional<Path> folder() throws IOException {
    return folder(System.getenv());
  }

  /** The same for a process with that environment. */
  static Optional<Path> folder(Map<String, String> environment) throws IOException {
    Optional<Path> chosen =
        given(environment, "XDG_RUNTIME_DIR")
            .or(() -> given(environment, "XDG_CACHE_HOME"))
            .map(Path::of)
            .or(() -> given(environment, "HOME").map(home -> Path.of(home, ".cache")));
    if (chosen.isEmpty()) return Optional.empty();
    Path parent = chosen.get();
    if (!parent.isAbsolute()) return Optional.empty();
    String name = "kbx-" + Integer.toHexString(home().toString().hashCode());
    Path folder = parent.resolve(name);
    if (folder.toString().length() > LONGEST) return Optional.empty();
    if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectories(parent);
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    return isOurs(folder) ? Optional.of(folder) : Optional.empty();
  }

  private static boolean isOurs(Path folder) throws IOException {
    return Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
        && Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS)
            .equals(PosixFilePermissions.fromString("rwx------"))
        && Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS)
            .equals(Files.getOwner(Path.of("/proc/self")));
  }

  /**
   * All that a command's result or behaviour may depend on besides its arguments, a line each: the
   * build, the tasks and workers, the environment, the working folder, limits and namespaces.
   */
  static List<String> ofThisProcess() throws IOException {
    List<String> terms = new ArrayList<>();
    // One that was deleted and made again has the same name.
    Path here = Path.of("").toAbsolutePath();
    terms.add("folder " + here + " " + Files.getAttribute(here, "unix:ino"));
    terms.add("java " + System.getProperty("java.home"));
    terms.add("classes " + System.getProperty("java.class.path"));
    Path home = home();
    for (String name : List.of("target/kbx.jar", "target/build.done", "app/kbx.jar")) {
      if (Files.exists(home.resolve(name))) terms.add(stamp(home.resolve(name)));
    }
    for (String name : List.of("worker/kbx", "tasks"))
      terms.add(name + " " + stamps(home.resolve(name)));
    Map<String, String> environment = new TreeMap<>(System.getenv());
    environment.keySet().removeAll(OF_TERMINAL);
    environment.forEach((name, value) -> terms.add("variable " + name + "=" + value));
    terms.addAll(Files.readAllLines(Path.of("/proc/self/limits")));
    terms.addAll(Files.readAllLines(Path.of("/proc/self/cgroup")));
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (INHERITED.stream().anyMatch(line::startsWith)) terms.add(line);
    }
    for (String name : NAMESPACES) {
      terms.add(Files.readSymbolicLink(Path.of("/proc/self/ns", name)).toString());
    }
    terms.add("root " + Files.readSymbolicLink(Path.of("/proc/self/root")));
    String stat = Files.readString(Path.of("/proc/self/stat"));
    terms.add("nice " + stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[16]);
    return List.copyOf(terms);
  }

  /** Whether processor time is limited, of which a daemon would take every command's from one. */
  static boolean limitTime(List<String> terms) {
    return terms.stream()
        .anyMatch(line -> line.startsWith(CPU_TIME) && !line.matches(CPU_TIME + " +unlimited .*"));
  }

  private static String stamp(Path file) throws IOException {
    return file + " " + Files.getLastModifiedTime(file) + " " + Files.size(file);
  }

  /** What differs once any file in a folder does, compiled Python apart. */
  private static String stamps(Path folder) throws IOException {
    long[] sum = new long[3];
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.toString().endsWith(".pyc")) return FileVisitResult.CONTINUE;
            sum[0]++;
            sum[1] += attributes.size();
            // In any order: a product, so that two files that swap their times differ.
            sum[2] += attributes.lastModifiedTime().hashCode() * 31L * file.hashCode();
            return FileVisitResult.CONTINUE;
          }
        });
    return sum[0] + " " + sum[1] + " " + sum[2];
  }
}

package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code ./kbx} in a small checkout of its own, in a folder with spaces. In Maven's place stands a
 * script that copies what the real one built.
 */
class LauncherTest {
  private static final Path BUILT = Path.of("target").toAbsolutePath();

  private static final String COPYING_MAVEN =
      """
      #!/bin/sh
      echo built >>"$MAVEN_CALLS"
      cp -r "$BUILT/kbx.jar" "$BUILT/lib" "$BUILT/native" "$BUILT/bench" "$CHECKOUT/target/"
      """;

  private static final String FAILING_MAVEN =
      "#!/bin/sh\necho '[ERROR] Foo.java:[1,2] cannot find symbol'\nexit 1\n";

  @TempDir private static Path shared;

  /** What a build leaves, as the first test that needs it has made it: most of a test's time. */
  private static @Nullable Path target;

  @TempDir Path folder;
  private Path checkout;
  private Path calls;
  private final Map<String, String> environment = new HashMap<>();

  @BeforeEach
  void makeCheckout() throws IOException {
    checkout = Files.createDirectories(folder.resolve("my projects/kbx 1"));
    calls = folder.resolve("calls");
    Files.copy(Path.of("kbx"), checkout.resolve("kbx"));
    Files.setPosixFilePermissions(
        checkout.resolve("kbx"), PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.copy(Path.of("pom.xml"), checkout.resolve("pom.xml"));
    Files.createDirectories(checkout.resolve("java/judge/src/main"));
    Files.createFile(checkout.resolve("java/judge/src/main/A.java"));
    Files.createFile(checkout.resolve("java/judge/pom.xml"));
    Files.createDirectory(checkout.resolve("web"));
    environment.put("PATH", folder.resolve("bin") + ":/usr/bin:/bin");
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("MAVEN_CALLS", calls.toString());
    environment.put("BUILT", BUILT.toString());
    environment.put("CHECKOUT", checkout.toString());
    maven(COPYING_MAVEN);
  }

  @Test
  void buildsOnFirstUseOnly() throws Exception {
    Launched first = kbx("--version");
    Launched second = kbx("--version");

    assertThat(first.exit()).as(first.err()).isZero();
    assertThat(first.out()).startsWith("kbx ");
    assertThat(first.err()).startsWith("kbx: building").hasLineCount(1);
    assertThat(second).isEqualTo(new Launched(0, first.out(), ""));
    assertThat(calls).hasContent("built");
  }

  @Test
  void benchmarksAreOnTheClassPathOfBenchOnly() throws Exception {
    isBuilt();
    assertThat(kbx("bench", "--help").out()).contains("cheats ", "noise ", "referee ");
    assertThat(kbx("help", "bench").out()).contains("cheats ");

    Files.delete(checkout.resolve("target/bench/kbx-bench.jar"));

    assertThat(kbx("bench", "--help").out()).contains("noise ").doesNotContain("cheats ");
    assertThat(kbx("check", "--rules").exit()).isZero();
  }

  @Test
  void rebuildsAfterASourceChange() throws Exception {
    startsNoJava();
    isBuilt();
    later(checkout.resolve("java/judge/src/main/A.java"));

    assertThat(kbx("--version").err()).startsWith("kbx: building");
  }

  @Test
  void rebuildsAfterASourceIsDeleted() throws Exception {
    startsNoJava();
    isBuilt();
    Files.delete(checkout.resolve("java/judge/src/main/A.java"));
    later(checkout.resolve("java/judge/src/main"));

    assertThat(kbx("--version").err()).startsWith("kbx: building");
  }

  @Test
  void concurrentFirstStartsBuildOnce() throws Exception {
    startsNoJava();
    maven(COPYING_MAVEN + "sleep 1\n");
    List<String> command = List.of(checkout.resolve("kbx").toString(), "--version");
    Launched.Running one = Launched.start(folder, environment, command);
    Launched.Running two = Launched.start(folder, environment, command);

    assertThat(List.of(one.await().exit(), two.await().exit())).containsOnly(0);
    assertThat(calls).hasContent("built");
  }

  @Test
  void isFoundThroughLinks() throws Exception {
    startsNoJava();
    isBuilt();
    Path link = Files.createSymbolicLink(folder.resolve("first"), checkout.resolve("kbx"));
    Path second =
        Files.createSymbolicLink(folder.resolve("second"), Path.of(link.getFileName().toString()));

    Launched launched = Launched.run(folder, environment, List.of(second.toString(), "--version"));

    assertThat(launched.exit()).as(launched.err()).isZero();
  }

  @Test
  void returnsTheExitStatus() throws Exception {
    isBuilt();
    assertThat(kbx("no-such-command").exit()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void ignoresAMissingOrDamagedStartupCache() throws Exception {
    isBuilt();
    Launched sound = kbx("--version");
    Files.writeString(checkout.resolve("target/kbx.aot"), "nonsense");
    assertThat(kbx("--version")).isEqualTo(new Launched(0, sound.out(), ""));

    Files.delete(checkout.resolve("target/kbx.aot"));
    assertThat(kbx("--version")).isEqualTo(new Launched(0, sound.out(), ""));
  }

  @Test
  void serverExitsOnOutOfMemory() throws Exception {
    startsNoJava();
    isBuilt();

    assertThat(kbx("serve").out()).contains("-XX:+ExitOnOutOfMemoryError");
    assertThat(kbx("eval").out()).doesNotContain("OutOfMemory");
  }

  @Test
  void namesTheLogOfAFailedBuild() throws Exception {
    maven(FAILING_MAVEN);

    Launched launched = kbx("--version");

    assertThat(launched.exit()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(launched.out()).isEmpty();
    assertThat(launched.err())
        .contains("cannot find symbol")
        .contains(checkout.resolve("target/build.log").toString());
    assertThat(kbx("--version").exit()).isEqualTo(ExitCode.INCOMPLETE);
  }

  @Test
  void namesHowToGetMaven() throws Exception {
    Files.delete(folder.resolve("bin/mvn"));
    environment.put(
        "PATH", Files.createDirectories(folder.resolve("bin")) + ":" + toolsWithoutMaven());

    assertFails("no Maven (mvn) on the PATH. Get it with: apt-get install maven");
  }

  @Test
  void refusesAnUnsuitableJava() throws Exception {
    environment.put("KBX_JAVA_HOME", folder.toString());

    assertFails("KBX_JAVA_HOME=" + folder + " is not a JDK 25 or newer.");
  }

  @Test
  void refusesAReadOnlyCheckout() throws Exception {
    Files.createFile(checkout.resolve("target")); // Permissions would not stop root.

    assertFails("cannot build: " + checkout.resolve("target") + " cannot be written.");
  }

  /**
   * A script in Java's place, which says how it was called: the start of a JVM and its cache are
   * most of a test's time.
   */
  private void startsNoJava() throws IOException {
    Path bin = Files.createDirectories(folder.resolve("jdk/bin"));
    Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"25\"\n");
    for (String program : List.of("java", "javac")) {
      Files.writeString(
          bin.resolve(program),
          """
          #!/bin/sh
          case $1 in -XX:AOTCacheOutput=*) : >"${1#*=}" ;; esac
          echo "$@"
          """);
      Files.setPosixFilePermissions(
          bin.resolve(program), PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    environment.put("KBX_JAVA_HOME", folder.resolve("jdk").toString());
  }

  /** Puts a build into the checkout, newer than its sources. */
  private void isBuilt() throws Exception {
    boolean startsJava = !environment.containsKey("KBX_JAVA_HOME");
    if (startsJava && target != null) {
      copy(target, checkout.resolve("target"));
      Files.setLastModifiedTime(
          checkout.resolve("target/build.done"), FileTime.from(Instant.now()));
    } else {
      assertThat(kbx("--version").exit()).isZero();
      if (startsJava) {
        target = shared.resolve("target");
        copy(checkout.resolve("target"), target);
      }
    }
    assertThat(kbx("--version").err()).isEmpty();
  }

  private static void copy(Path from, Path to) throws Exception {
    List<String> command = List.of("cp", "-a", from.toString(), to.toString());
    assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
  }

  private Launched kbx(String... arguments) throws Exception {
    List<String> command =
        Stream.concat(Stream.of(checkout.resolve("kbx").toString()), Stream.of(arguments)).toList();
    return Launched.run(folder, environment, command);
  }

  private void assertFails(String message) throws Exception {
    Launched launched = kbx("--version");
    assertThat(launched.exit()).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(launched.out()).isEmpty();
    assertThat(launched.err()).contains(message).hasLineCount(1);
  }

  private void maven(String script) throws IOException {
    Path mvn = Files.createDirectories(folder.resolve("bin")).resolve("mvn");
    Files.writeString(mvn, script);
    Files.setPosixFilePermissions(mvn, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** A folder of links to the tools that the launcher uses. */
  private Path toolsWithoutMaven() throws IOException {
    Path tools = Files.createDirectory(folder.resolve("tools"));
    for (String tool : List.of("sh", "readlink", "dirname", "find", "mkdir", "flock"))
      Files.createSymbolicLink(tools.resolve(tool), Path.of("/usr/bin", tool).toRealPath());
    return tools;
  }

  private static void later(Path path) throws IOException {
    Files.setLastModifiedTime(path, FileTime.from(Instant.now().plusSeconds(60)));
  }
}

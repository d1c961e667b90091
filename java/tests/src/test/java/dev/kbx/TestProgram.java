package dev.kbx;

import dev.kbx.files.Folders;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The built program, for tests that start it as a process of its own. As for its users a start-up
 * cache halves what a start costs; the first test that starts a build makes it.
 */
public final class TestProgram {
  private static final Path TARGET = TestPython.home().resolve("target");
  private static final Path CACHE = TARGET.resolve("tests.aot");

  private TestProgram() {}

  private static final class OfThisBuild {
    static final String CACHE_FLAG = cacheFlag();
  }

  /**
   * The command that starts a class of the program or of the tests, to which its arguments are
   * added.
   *
   * @param heap the largest, as in {@code 512m}
   */
  public static List<String> command(String heap, String main) {
    String classPath = jar() + File.pathSeparator + System.getProperty("java.class.path");
    return java(OfThisBuild.CACHE_FLAG, heap, classPath, main);
  }

  private static List<String> java(String cacheFlag, String heap, String classPath, String main) {
    return new ArrayList<>(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            cacheFlag,
            "-Xlog:disable",
            "-Xmx" + heap,
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-Dkbx.home=" + TestPython.home(),
            "-cp",
            classPath,
            main));
  }

  private static Path jar() {
    return TARGET.resolve("kbx.jar");
  }

  /** Other forks wait for the one that makes the cache. */
  private static String cacheFlag() {
    try (FileChannel file =
            FileChannel.open(
                TARGET.resolve("tests.aot.lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        FileLock _ = file.lock()) {
      if (!isCurrent()) make();
      return "-XX:AOTCache=" + CACHE;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while the start-up cache was made", e);
    }
  }

  private static boolean isCurrent() throws IOException {
    if (!Files.exists(CACHE)) return false;
    FileTime made = Files.getLastModifiedTime(CACHE);
    try (Stream<Path> libraries = Files.list(TARGET.resolve("lib"))) {
      for (Path jar : Stream.concat(Stream.of(jar()), libraries).toList()) {
        if (Files.getLastModifiedTime(jar).compareTo(made) > 0) return false;
      }
    }
    return true;
  }

  private static void make() throws IOException, InterruptedException {
    Path scratch = Files.createTempDirectory("kbx-start");
    Path made = TARGET.resolve("tests.aot.new");
    List<String> command =
        java("-XX:AOTCacheOutput=" + made, "512m", jar().toString(), "dev.kbx.cli.Main");
    Path plain = TestPython.home().resolve("corpus/honest/plain");
    command.addAll(List.of("eval", plain.toString(), "--stages", "static"));
    command.addAll(List.of("--seed", "start", "--out", scratch.resolve("out").toString()));
    Path log = scratch.resolve("log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    if (process.waitFor() != 0) throw new AssertionError(Files.readString(log));
    Files.move(made, CACHE, StandardCopyOption.REPLACE_EXISTING);
    Folders.delete(scratch);
  }
}

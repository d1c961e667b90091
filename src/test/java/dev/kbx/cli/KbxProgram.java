package dev.kbx.cli;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** How tests start kbx as a process. */
final class KbxProgram {
  private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
  private static final Path TARGET = Kbx.home().resolve("target");
  private static final Path JAR = TARGET.resolve("kbx.jar");

  private KbxProgram() {}

  /**
   * As the launcher starts it: the jar, with a cache of what a start loads (JEP 514). That takes a
   * third of the processor time, and tests start it a hundred times.
   */
  static List<String> command() throws IOException {
    return command("-XX:AOTCache=" + cache(), JAR.toString());
  }

  /** With other classes. */
  static List<String> command(String classPath) {
    return command("-XX:AOTMode=off", classPath);
  }

  private static List<String> command(String cache, String classPath) {
    Path libraries = TARGET.resolve("native");
    return List.of(
        JAVA.toString(),
        cache,
        "-Xlog:disable",
        "-Xmx512m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "--enable-native-access=ALL-UNNAMED",
        "-Dorg.sqlite.lib.path=" + libraries.resolve("org/sqlite/native/Linux/x86_64"),
        "-Dorg.sqlite.lib.name=libsqlitejdbc.so",
        "-Dtree-sitter-lib=" + libraries,
        "-Dkbx.home=" + Kbx.home(),
        "-cp",
        classPath,
        "dev.kbx.cli.Main");
  }

  /** The cache of this build; several JVMs of tests make it once. */
  private static Path cache() throws IOException {
    Path cache = TARGET.resolve("test-%d.aot".formatted(Files.getLastModifiedTime(JAR).toMillis()));
    if (Files.exists(cache)) return cache;
    try (FileChannel channel =
            FileChannel.open(
                TARGET.resolve("test.aot.lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        var _ = channel.lock()) {
      if (!Files.exists(cache)) train(cache);
    }
    return cache;
  }

  private static void train(Path cache) throws IOException {
    Path draft = TARGET.resolve("test.aot.new");
    Path out = Files.createTempDirectory("kbx-train");
    List<String> command = new ArrayList<>(command("-XX:AOTCacheOutput=" + draft, JAR.toString()));
    command.addAll(
        List.of(
            "eval",
            Kbx.home().resolve("examples").toString(),
            "--stages",
            "static",
            "--out",
            out.toString()));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectErrorStream(true).redirectOutput(TARGET.resolve("test.aot.log").toFile());
    try {
      int exit = builder.start().waitFor();
      if (exit != 0) throw new IOException("training ended with " + exit + ": target/test.aot.log");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
    try (var older = Files.newDirectoryStream(TARGET, "test-*.aot")) {
      for (Path file : older) Files.delete(file);
    }
    Files.move(draft, cache, StandardCopyOption.ATOMIC_MOVE);
  }
}

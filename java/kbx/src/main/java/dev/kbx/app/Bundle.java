package dev.kbx.app;

import dev.kbx.files.Folders;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * A folder that runs kbx on Linux x86-64 without an installed Java, and its archive:
 *
 * <pre>
 *   kbx                        the launcher of the checkout: it finds runtime/ beside it
 *   runtime/                   a Java runtime of the modules that are needed
 *   app/kbx.jar, app/lib/      the jar files, without native libraries
 *   app/bench/                 kbx's own benchmarks, on the class path of kbx bench alone
 *   app/native/                the native libraries for this platform
 *   app/kbx.aot                the start-up cache, made with this runtime
 *   worker/, bridge/, tasks/, prompts/, examples/, corpus/,
 *   bench/redteam/, bench/simulated/
 * </pre>
 */
public final class Bundle {
  /**
   * Modules that the jar files need according to jdeps, without java.desktop (51 MB): Jackson and
   * Jdbi refer to it for bean annotations and AWT types, which kbx does not use.
   */
  private static final String MODULES =
      "java.base,java.logging,java.management,java.naming,java.net.http,java.sql,java.xml,jdk.jfr,jdk.net";

  /** Compressed modules would compress worse in the archive, by 15 % of its size. */
  private static final String UNCOMPRESSED = "zip-0";

  private static final List<String> FOLDERS =
      List.of(
          "worker/kbx",
          "worker/tritons",
          "bridge/kbx_bridge",
          "tasks",
          "prompts",
          "examples",
          "corpus",
          "docs",
          "bench/redteam",
          "bench/simulated");
  private static final List<String> FILES =
      List.of("kbx", "LICENSE", "README.md", "worker/requirements.txt", "bridge/requirements.txt");

  private final Path home;
  private final String name;
  private final Consumer<String> progress;

  /**
   * @param home a built checkout
   * @param version of kbx
   * @param progress receives a line for each step
   */
  public Bundle(Path home, String version, Consumer<String> progress) {
    this.home = home;
    this.name = "kbx-" + version + "-linux-x86_64";
    this.progress = progress;
  }

  /** Makes the archive in {@code folder} and returns its path. */
  public Path make(Path folder) throws IOException, InterruptedException {
    return make(folder, ".tar.xz", "xz -T0");
  }

  /** Makes a bundle, packed fast for a copy to other machines of one cluster. */
  Path makeQuickly(Path folder) throws IOException, InterruptedException {
    return make(folder, ".tar.gz", "gzip -1");
  }

  /** Name of the folder in the archive. */
  String name() {
    return name;
  }

  private Path make(Path folder, String suffix, String compressor)
      throws IOException, InterruptedException {
    Path staging = Files.createTempDirectory(folder, ".bundle");
    try {
      Path root = staging.resolve(name);
      fill(root);
      say("training the start-up cache");
      // The cache identifies jar files by their times, and an archive keeps only whole seconds.
      Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
      try (Stream<Path> files = Files.walk(root)) {
        for (Path file : (Iterable<Path>) files::iterator)
          Files.setLastModifiedTime(file, FileTime.from(now));
      }
      run(root, root.resolve("kbx").toString(), "--train-start");
      say("compressing");
      Path archive = staging.resolve(name + suffix);
      run(
          staging,
          "tar",
          "--sort=name",
          "--owner=0",
          "--group=0",
          "--numeric-owner",
          "--use-compress-program=" + compressor,
          "-cf",
          archive.toString(),
          name);
      Path made = folder.resolve(archive.getFileName());
      Files.move(archive, made, StandardCopyOption.REPLACE_EXISTING);
      say("%s: %.1f MB".formatted(made.getFileName(), Files.size(made) / 1e6));
      return made;
    } finally {
      Folders.delete(staging);
    }
  }

  /**
   * Packs a bundle that was unpacked here, without what it has kept since.
   *
   * @return the archive, whose folder is {@link #name}
   */
  Path repack(Path folder) throws IOException, InterruptedException {
    Path archive = folder.resolve(name + ".tar.gz");
    run(
        home,
        "tar",
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--exclude=./.kbx",
        "--transform=s,^\\.," + name + ",",
        "--use-compress-program=gzip -1 -n",
        "-cf",
        archive.toString(),
        ".");
    return archive;
  }

  private void fill(Path root) throws IOException {
    say("linking a Java runtime");
    link(root.resolve("runtime"));
    say("copying");
    Path target = home.resolve("target");
    Path app = Files.createDirectories(root.resolve("app"));
    Files.copy(target.resolve("kbx.jar"), app.resolve("kbx.jar"));
    for (String folder : List.of("native", "bench"))
      copyTree(target.resolve(folder), app.resolve(folder), _ -> true);
    Files.createDirectory(app.resolve("lib"));
    try (Stream<Path> jars = Files.list(target.resolve("lib"))) {
      for (Path jar : jars.toList()) {
        Path copy = app.resolve("lib").resolve(jar.getFileName());
        // The judge's fingerprint is that of its jar file's bytes.
        if (jar.getFileName().toString().startsWith("kbx-")) Files.copy(jar, copy);
        else copyWithoutNative(jar, copy);
      }
    }
    for (String folder : FOLDERS)
      copyTree(home.resolve(folder), root.resolve(folder), file -> !file.endsWith("__pycache__"));
    for (String file : FILES)
      Files.copy(home.resolve(file), root.resolve(file), StandardCopyOption.COPY_ATTRIBUTES);
  }

  private static void link(Path runtime) throws IOException {
    ToolProvider jlink =
        ToolProvider.findFirst("jlink")
            .orElseThrow(() -> new IOException("this Java has no jlink; a JDK is needed"));
    StringWriter output = new StringWriter();
    PrintWriter writer = new PrintWriter(output);
    int status =
        jlink.run(
            writer,
            writer,
            "--add-modules=" + MODULES,
            "--strip-java-debug-attributes",
            "--no-header-files",
            "--no-man-pages",
            "--compress=" + UNCOMPRESSED,
            "--output=" + runtime);
    if (status != 0) throw new IOException("jlink failed: " + output.toString().strip());
  }

  /** Two jar files contain native libraries for a dozen platforms: 14 of 19 MB. */
  private static void copyWithoutNative(Path jar, Path copy) throws IOException {
    try (InputStream in = Files.newInputStream(jar);
        OutputStream out = Files.newOutputStream(copy);
        ZipInputStream from = new ZipInputStream(in);
        ZipOutputStream to = new ZipOutputStream(out)) {
      to.setLevel(0);
      for (ZipEntry entry = from.getNextEntry(); entry != null; entry = from.getNextEntry()) {
        if (entry.isDirectory() || isNative(entry.getName())) continue;
        to.putNextEntry(new ZipEntry(entry.getName()));
        from.transferTo(to);
      }
    }
  }

  private static boolean isNative(String entry) {
    return Stream.of(".so", ".dll", ".dylib", ".jnilib", ".a").anyMatch(entry::endsWith);
  }

  private static void copyTree(Path from, Path to, Predicate<Path> wanted) throws IOException {
    try (Stream<Path> entries = Files.list(from)) {
      Files.createDirectories(to);
      for (Path entry : entries.filter(wanted).toList()) {
        Path copy = to.resolve(entry.getFileName());
        if (Files.isDirectory(entry)) copyTree(entry, copy, wanted);
        else Files.copy(entry, copy, StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
  }

  private static void run(Path folder, String... command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0)
      throw new IOException(command[0] + " failed: " + output.strip().lines().toList().getLast());
  }

  private void say(String line) {
    progress.accept(line);
  }
}

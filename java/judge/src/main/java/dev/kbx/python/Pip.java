package dev.kbx.python;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Installs pinned packages with an interpreter's own pip.
 *
 * <p>Progress is read from the disk, as pip without a terminal reports none and versions of pip
 * differ: files in its temporary folder have been downloaded, and each unpacked package has a
 * {@code .dist-info} folder.
 */
final class Pip {
  private static final long POLL_MILLIS = 500;
  private static final int LAST_LINES = 5;
  private static final Pattern REQUIREMENT = Pattern.compile("^([A-Za-z0-9][A-Za-z0-9._-]*)==");
  private static final Pattern USEFUL =
      Pattern.compile("(?i).*(error|fail|not found|denied|no space).*");

  /** Settings that would make pip install elsewhere, or Python see other packages. */
  private static final List<String> MISLEADING =
      List.of("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PYTHONPATH", "PYTHONHOME");

  /**
   * Runs pip and ends it when stdin closes, that is, when the JVM ends, even by a kill. Otherwise
   * pip would go on filling a folder that the next kbx clears.
   */
  private static final String RUN_PIP =
      """
      import os, runpy, sys, threading

      def follow_parent():
          while sys.stdin.buffer.raw.read(1):
              pass
          os._exit(1)

      threading.Thread(target=follow_parent, daemon=True).start()
      sys.argv[0] = "pip"
      runpy.run_module("pip", run_name="__main__", alter_sys=True)
      """;

  private final Path python;
  private final Path temporary;
  private final Path packages;
  private final Map<String, String> environment;

  /**
   * @param python whose pip is run
   * @param temporary an empty folder, on the file system installed to
   * @param packages where packages appear
   * @param environment pip's own variables in it are respected
   */
  Pip(Path python, Path temporary, Path packages, Map<String, String> environment) {
    this.python = python;
    this.temporary = temporary;
    this.packages = packages;
    this.environment = new TreeMap<>(environment);
    MISLEADING.forEach(this.environment::remove);
    this.environment.put("TMPDIR", temporary.toString());
    this.environment.put("PYTHONNOUSERSITE", "1");
    this.environment.put("PYTHONUNBUFFERED", "1");
  }

  /**
   * Installs what {@code requirements} pins; wheels only, so that no code runs while installing.
   *
   * @param packages what they are, for messages
   * @throws PythonProblem pip failed; its details are pip's last useful lines
   */
  void install(
      Path requirements, List<String> options, Provisioner.Packages packages, Progress progress)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(python.toString(), "-c", RUN_PIP, "install"));
    command.addAll(List.of("--no-input", "--disable-pip-version-check", "--progress-bar=off"));
    command.addAll(List.of("--only-binary=:all:", "--requirement", requirements.toString()));
    command.addAll(options);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.directory(temporary.toFile());
    Probe.replaceEnvironment(builder, environment);
    Process process = builder.start();
    try {
      List<String> lines = new ArrayList<>();
      Thread reader = Thread.ofVirtual().start(() -> read(process, lines));
      follow(process, new Tally(requirements, System.nanoTime()), progress);
      reader.join();
      if (process.exitValue() != 0) throw failure(requirements, packages, lines);
    } finally {
      process.destroyForcibly();
      progress.done();
    }
  }

  private static void read(Process process, List<String> lines) {
    try (var reader =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      reader.lines().forEach(lines::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void follow(Process process, Tally tally, Progress progress)
      throws IOException, InterruptedException {
    while (!process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) progress.update(tally.line());
  }

  private static PythonProblem failure(
      Path requirements, Provisioner.Packages packages, List<String> lines) {
    List<String> useful =
        lines.stream().filter(line -> USEFUL.matcher(line).matches()).distinct().toList();
    List<String> shown = useful.isEmpty() ? lines : useful;
    return new PythonProblem(
        "pip could not install %s; without a way to the package index, let %s name a python with %s"
            .formatted(requirements, packages.variable(), packages.what()),
        shown.subList(Math.max(0, shown.size() - LAST_LINES), shown.size()));
  }

  /** Progress of one installation. */
  private final class Tally {
    private final int wanted;
    private final long startNanos;
    private final long before;

    Tally(Path requirements, long startNanos) throws IOException {
      this.startNanos = startNanos;
      this.before = unpacked();
      try (var lines = Files.lines(requirements)) {
        wanted =
            (int)
                lines
                    .map(REQUIREMENT::matcher)
                    .filter(matcher -> matcher.find())
                    .map(matcher -> matcher.group(1))
                    .distinct()
                    .count();
      }
    }

    String line() throws IOException {
      Duration elapsed = Duration.ofNanos(System.nanoTime() - startNanos);
      String time = "%d:%02d".formatted(elapsed.toMinutes(), elapsed.toSecondsPart());
      long unpacked = unpacked() - before;
      if (unpacked > 0)
        return "unpacking: %d of %d packages, %s"
            .formatted(Math.min(unpacked, wanted), wanted, time);
      long[] downloaded = downloaded();
      return "downloading: %d of %d packages, %d MB, %s"
          .formatted(Math.min(downloaded[0], wanted), wanted, downloaded[1] / 1_000_000, time);
    }

    private long unpacked() throws IOException {
      try (var entries = Files.list(packages)) {
        return entries.filter(entry -> entry.toString().endsWith(".dist-info")).count();
      }
    }

    /** Files and bytes; a file that pip moves away meanwhile is not counted. */
    private long[] downloaded() throws IOException {
      long[] filesAndBytes = new long[2];
      try (var files = Files.walk(temporary, 2)) {
        files
            .map(Path::toFile)
            .filter(File::isFile)
            .forEach(file -> {
              filesAndBytes[0]++;
              filesAndBytes[1] += file.length();
            });
      } catch (UncheckedIOException e) {
        return filesAndBytes;
      }
      return filesAndBytes;
    }
  }
}

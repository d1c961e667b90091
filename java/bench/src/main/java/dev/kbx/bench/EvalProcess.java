package dev.kbx.bench;

import dev.kbx.cli.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A {@code kbx eval} in a child JVM, observed by its progress lines and by /proc. */
final class EvalProcess {
  /** {@code [17/100000] correct …}. */
  private static final Pattern VERDICT = Pattern.compile("\\[(\\d+)/\\d+] ");

  private static final Duration SAMPLING = Duration.ofMillis(200);

  /** Verdicts between two progress lines. */
  private static final int NEWS = 5_000;

  /** Time for workers to exit after their referee was killed. */
  private static final int PARTING_SECONDS = 20;

  private final Process process;
  private final long started = System.nanoTime();
  private final PrintStream news;
  private volatile ProcessFigures figures = ProcessFigures.NONE;
  private int verdicts;
  private double first;
  private double last;

  private EvalProcess(Process process, PrintStream news) {
    this.process = process;
    this.news = news;
  }

  /**
   * Observations; times are seconds since the start of the process.
   *
   * @param verdicts number of verdicts
   * @param first time of the first verdict
   * @param last time of the last verdict
   * @param end time at which the process had ended
   */
  record Seen(int verdicts, double first, double last, double end, ProcessFigures figures) {
    /** Verdicts a second between the first and the last. */
    double rate() {
      return (verdicts - 1) / Math.max(last - first, 1e-9);
    }
  }

  /**
   * Starts another {@code kbx} like this one, with other arguments.
   *
   * @param simulated folder of the workers to use
   * @param log file for the garbage collector's log
   */
  static EvalProcess start(
      Path simulated, Path log, List<String> arguments, Path stdout, PrintStream news)
      throws IOException {
    List<String> command = new ArrayList<>();
    for (String word : Files.readString(Path.of("/proc/self/cmdline")).split("\0", -1)) {
      if (word.equals(Main.class.getName())) break;
      command.add(word);
    }
    // After the launcher's flags: the last one counts.
    command.add("-Dkbx.workers=" + simulated);
    command.add("-Dkbx.stderr.tty=false");
    command.add("-Dkbx.daemon=false"); // What is watched must be what judges.
    command.add("-Xlog:gc:file=" + log);
    command.add(Main.class.getName());
    command.addAll(arguments);
    Process process = new ProcessBuilder(command).redirectOutput(stdout.toFile()).start();
    return new EvalProcess(process, news);
  }

  /**
   * Watches until the process ends, or kills it with SIGKILL.
   *
   * @param kill after so many verdicts
   */
  Seen watch(int kill) throws IOException, InterruptedException {
    Thread sampler = Thread.ofVirtual().start(this::sample);
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Matcher verdict = VERDICT.matcher(line);
        if (!verdict.lookingAt()) news.println(line);
        else count();
        if (verdicts == kill) break;
      }
      if (verdicts == kill) kill();
      process.waitFor();
    } finally {
      process.destroyForcibly();
      sampler.join();
    }
    return new Seen(verdicts, first, last, seconds(), figures);
  }

  /** The exit code of the ended process. */
  int exit() {
    return process.exitValue();
  }

  private void count() {
    last = seconds();
    if (verdicts++ == 0) first = last;
    if (verdicts % NEWS == 0) {
      news.printf(
          "kbx: %,d verdicts, %.0f a second, %.0f MB%n",
          verdicts, (verdicts - 1) / (last - first), figures.peakMegabytes());
    }
  }

  private void kill() throws InterruptedException {
    List<ProcessHandle> workers = process.descendants().toList();
    process.destroyForcibly().waitFor();
    for (ProcessHandle worker : workers) {
      try {
        worker.onExit().get(PARTING_SECONDS, TimeUnit.SECONDS);
      } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
        worker.destroyForcibly();
      }
    }
  }

  private void sample() {
    try {
      while (process.isAlive()) {
        figures = figures.and(ProcessFigures.of(process.pid()));
        Thread.sleep(SAMPLING);
      }
    } catch (IOException | UncheckedIOException e) {
      // It has just ended.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private double seconds() {
    return (System.nanoTime() - started) / 1e9;
  }

  /**
   * Memory and processor time of a process, from /proc.
   *
   * @param peakMegabytes largest resident memory so far, 10⁶ bytes
   * @param cpuSeconds processor time of all its threads so far
   */
  record ProcessFigures(double peakMegabytes, double cpuSeconds) {
    static final ProcessFigures NONE = new ProcessFigures(0, 0);

    /** Ticks a second in /proc, whatever the kernel's own clock. */
    private static final double TICKS = 100;

    /** Throws if the process has ended. */
    static ProcessFigures of(long pid) throws IOException {
      Path folder = Path.of("/proc", Long.toString(pid));
      List<String> status = Files.readAllLines(folder.resolve("status"));
      double kibibytes =
          status.stream()
              .filter(line -> line.startsWith("VmHWM:"))
              .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D+", "")))
              .findFirst()
              .orElse(0);
      String stat = Files.readString(folder.resolve("stat"));
      // The name before it may contain any character; fields 14 and 15 of proc(5) are user and
      // system
      // time.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      double ticks = Double.parseDouble(fields[11]) + Double.parseDouble(fields[12]);
      return new ProcessFigures(kibibytes * 1024 / 1e6, ticks / TICKS);
    }

    /** The maximum of each figure. */
    ProcessFigures and(ProcessFigures other) {
      return new ProcessFigures(
          Math.max(peakMegabytes, other.peakMegabytes), Math.max(cpuSeconds, other.cpuSeconds));
    }
  }
}

package dev.kbx.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

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
    // The name before it may contain any character; fields 14 and 15 of proc(5) are user and system
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

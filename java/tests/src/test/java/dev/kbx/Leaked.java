package dev.kbx;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestPlan;

/**
 * Ends this JVM, and so fails the build, when a worker of this checkout has outlived for five
 * minutes the process that started it. Workers end when their input does; one that does not would
 * stay.
 */
public final class Leaked implements TestExecutionListener {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final List<String> WORKERS = List.of("kbx.runner.zygote", "kbx.oracle");
  private static final String OURS = "PYTHONPATH=" + Path.of("").toAbsolutePath().resolve("worker");

  /** When those that are orphans now were first seen to be. */
  private final Map<Long, Instant> orphans = new HashMap<>();

  /** After each class. */
  @Override
  public synchronized void testPlanExecutionFinished(TestPlan plan) {
    Instant now = Instant.now();
    Map<Long, Instant> before = Map.copyOf(orphans);
    orphans.clear();
    ProcessHandle.allProcesses()
        .filter(Leaked::isOrphan)
        .forEach(process -> orphans.put(process.pid(), before.getOrDefault(process.pid(), now)));
    orphans.forEach((pid, since) -> {
      if (since.isAfter(now.minus(LIMIT))) return;
      System.err.println("leaked: process " + pid + ", " + read(pid, "cmdline"));
      Runtime.getRuntime().halt(1);
    });
  }

  private static boolean isOrphan(ProcessHandle process) {
    if (process.parent().map(ProcessHandle::pid).orElse(1L) != 1) return false;
    String command = read(process.pid(), "cmdline");
    return WORKERS.stream().anyMatch(command::contains)
        && read(process.pid(), "environ").contains(OURS);
  }

  private static String read(long pid, String name) {
    try {
      byte[] bytes = Files.readAllBytes(Path.of("/proc", Long.toString(pid), name));
      return new String(bytes, StandardCharsets.UTF_8).replace('\0', ' ');
    } catch (IOException e) {
      return ""; // It has ended.
    }
  }
}

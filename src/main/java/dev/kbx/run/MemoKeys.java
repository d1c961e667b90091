package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * Under what verdicts are remembered: everything they depend on. Source, task file, stages, rules,
 * secret, limits, tolerance, baseline, profile, device, versions. Safe for several threads.
 *
 * <p>A task's file is read once a run, as the oracle does.
 */
final class MemoKeys {
  /** Hexadecimal digits that stand for all sources of a run. */
  private static final int SOURCES = 16;

  private final String run;
  private final Map<Task, String> tasks = new ConcurrentHashMap<>();

  MemoKeys(Plan plan, RunInfo run) {
    this.run =
        List.of(
                plan.stages().stream().map(Stage::label).toList(),
                plan.rules(),
                plan.arch(),
                plan.secret(),
                plan.limits(),
                plan.tolerance(),
                plan.against(),
                plan.profile(),
                new TreeMap<>(run.versions()))
            .toString();
  }

  /** Hex; equal for candidates that would get the same verdict on the same device. */
  String of(Candidate candidate) {
    Task task = candidate.task();
    List<String> parts =
        List.of(
            candidate.hash(),
            task.suite(),
            task.path(),
            run,
            tasks.computeIfAbsent(task, Task::digest));
    return DigestUtils.sha256Hex(parts.toString());
  }

  /** Hex; the key {@code of} a candidate on a device. */
  static String on(Verdict.Device device, String of) {
    return DigestUtils.sha256Hex(device + of);
  }

  /** Hex; equal for the same sources for the same tasks in the same order, by their checksums. */
  static String sources(List<Candidate> candidates) {
    StringBuilder all = new StringBuilder();
    for (Candidate candidate : candidates) {
      all.append(candidate.task().path()).append(' ').append(candidate.source().sum()).append('\n');
    }
    return DigestUtils.sha256Hex(all.toString()).substring(0, SOURCES);
  }
}

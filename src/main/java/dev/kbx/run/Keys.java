package dev.kbx.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.candidate.Candidate;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Under what verdicts are remembered: everything they depend on. Source, task file, stages, rules,
 * secret, limits, tolerance, baseline, profile, device, versions. Safe for several threads.
 *
 * <p>A task's file is read once a run, as the oracle does.
 */
final class Keys {
  /** Bytes that stand for all sources of a run. */
  private static final int SOURCES = 8;

  private final String run;
  private final Map<Task, String> tasks = new ConcurrentHashMap<>();

  Keys(Plan plan, RunInfo run) {
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
                run.device(),
                new TreeMap<>(run.versions()))
            .toString();
  }

  /** Hex; equal for candidates that would get the same verdict. */
  String of(Candidate candidate) {
    Task task = candidate.task();
    List<String> parts =
        List.of(
            candidate.hash(),
            task.suite(),
            task.path(),
            run,
            tasks.computeIfAbsent(task, Keys::file));
    return HexFormat.of().formatHex(digest(parts.toString().getBytes(UTF_8)));
  }

  /** Hex; equal for the same sources for the same tasks in the same order, by their checksums. */
  static String sources(List<Candidate> candidates) {
    StringBuilder all = new StringBuilder();
    for (Candidate candidate : candidates) {
      all.append(candidate.task().path()).append(' ').append(candidate.source().sum()).append('\n');
    }
    return HexFormat.of().formatHex(digest(all.toString().getBytes(UTF_8)), 0, SOURCES);
  }

  private static String file(Task task) {
    try {
      return HexFormat.of().formatHex(digest(Files.readAllBytes(task.file())));
    } catch (IOException e) {
      return ""; // The oracle says what is wrong with it.
    }
  }

  private static byte[] digest(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}

package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.candidate.Candidate;
import dev.kbx.error.InputException;
import dev.kbx.task.Policy;
import dev.kbx.task.Suites;
import dev.kbx.task.Task;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Candidates of {@code kbx bench noise}: references, and a kernel with its twin. */
final class NoiseCandidates {
  private static final String TWINS = Suites.NOISE;
  private static final String PLAIN = "copy.py";
  private static final String SLOWED = "slowed.py";

  /**
   * Precision settings of the oracle for references; by default PyTorch's convolutions use TF32.
   */
  private static final String PRECISION =
      """

      import torch

      torch.set_float32_matmul_precision("highest")
      torch.backends.cudnn.allow_tf32 = False
      """;

  private NoiseCandidates() {}

  /**
   * The tasks' references, in rounds over all tasks, so that repetitions of a task are far apart.
   */
  static List<Candidate> references(List<Task> tasks, int repeats) {
    List<Candidate> candidates = new ArrayList<>();
    for (int repeat = 0; repeat < repeats; repeat++) {
      for (Task task : tasks) {
        Task open = task.tagged(Policy.ANY_TAG);
        candidates.add(candidate(open, task.reference() + PRECISION, task.file(), repeat));
      }
    }
    return candidates;
  }

  /** A copy kernel. */
  static List<Candidate> plain(int repeats) {
    return kernels(PLAIN, repeats);
  }

  /** The twin that moves 3 % more bytes. */
  static List<Candidate> slowed(int repeats) {
    return kernels(SLOWED, repeats);
  }

  /** Whether a verdict is on one of {@link #plain}. */
  static boolean isPlain(Verdict verdict) {
    return verdict.provenance().suite().equals(TWINS)
        && verdict.provenance().source().endsWith(PLAIN);
  }

  /** Whether a verdict is on one of {@link #slowed}. */
  static boolean isSlowed(Verdict verdict) {
    return verdict.provenance().suite().equals(TWINS)
        && verdict.provenance().source().endsWith(SLOWED);
  }

  private static List<Candidate> kernels(String name, int repeats) {
    Task task = Home.here().suite(TWINS).find("copy").getFirst();
    Path file = task.kernel().resolveSibling(name);
    String source = read(file);
    List<Candidate> candidates = new ArrayList<>();
    for (int i = 0; i < repeats; i++) candidates.add(candidate(task, source, file, i));
    return candidates;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new InputException("%s: cannot be read (%s)".formatted(file, e.getMessage()));
    }
  }

  /** Seeds derive from the source, so a comment gives every repetition other values. */
  private static Candidate candidate(Task task, String source, Path file, int repeat) {
    String code = source + "\n# repeat " + repeat + "\n";
    return new Candidate(task, code, file.toString(), repeat, null, null, null);
  }
}

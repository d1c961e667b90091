package dev.kbx.cli;

import dev.kbx.verdict.TaskVerdict;

/** A line on stderr for every verified task. */
final class VerifyProgress {
  private final int tasks;
  private final long start = System.nanoTime();
  private int done;
  private int judged;

  VerifyProgress(int tasks) {
    this.tasks = tasks;
  }

  /** Counts a verdict, which may be known from an earlier run. */
  synchronized void verdict(TaskVerdict verdict, boolean remembered) {
    done++;
    if (!remembered) judged++;
    System.err.printf(
        "%s %4d/%d  %s  %s%s%n",
        verdict.ok() ? "ok  " : "FAIL",
        done,
        tasks,
        verdict.path(),
        remembered ? "as before" : "%.1f s".formatted(verdict.seconds()),
        eta());
  }

  private String eta() {
    if (judged < 5 || done == tasks) return "";
    double each = (System.nanoTime() - start) / 1e9 / judged;
    return "  (about %.0f s left)".formatted(each * (tasks - done));
  }
}

package dev.kbx.check;

import dev.kbx.task.Policy;

/** Whose results must come from Triton kernels of the candidate's file. */
final class Policies {
  private Policies() {}

  /** Whether this task says so; nothing is asked of imported tasks, or without a task. */
  static boolean apply(Subject subject) {
    return subject.task().map(Policy::of).filter(Policy::enforced).isPresent();
  }
}

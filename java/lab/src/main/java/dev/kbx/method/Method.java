package dev.kbx.method;

/**
 * A way of writing kernels. Implementations are pure: the same assignment and history give the same
 * result, always.
 */
public interface Method {
  /** What to do after this history: at least one open step, or the answer. */
  Next next(Assignment assignment, History history);

  /** The answer when a budget allows no further step. */
  default Next.Answer answer(Assignment assignment, History history) {
    return Selections.best(history);
  }

  /** The most requests that one trajectory makes. */
  int mostCalls();
}

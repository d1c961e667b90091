package dev.kbx.method;

import java.util.List;

/**
 * The method of {@code --method agent}: a sandboxed program writes its answer into a file and may
 * have drafts judged. The run treats it as an external program that asks no model, since the
 * program's own requests to its model are no part of the history.
 *
 * @param judgements the most that it may ask for
 */
record Agent(int judgements) implements Method {
  /** The answer, and the end. */
  private static final int LAST_ANSWERS = 2;

  @Override
  public Next next(Method.Assignment assignment, History history) {
    // An interrupted agent begins anew, with the judgements that are left: its turns go on.
    return new External(judgements + LAST_ANSWERS).next(assignment, history);
  }

  /** The latest draft, as its file is what counts. */
  @Override
  public Next.Answer answer(Method.Assignment assignment, History history) {
    List<ProgramAnswer> answers = history.answers();
    for (ProgramAnswer each : answers.reversed()) {
      if (each.judge().isEmpty()) continue;
      ProgramAnswer.Candidate last = each.judge().getLast();
      return new Next.Answer(last.id(), last.code(), "the latest draft");
    }
    return Next.Answer.none("no draft");
  }

  @Override
  public int mostCalls() {
    return judgements;
  }
}

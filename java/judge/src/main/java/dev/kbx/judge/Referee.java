package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.DeviceLost;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Judgement;
import java.util.List;

/**
 * Turns a candidate into a judgement: by judging on this machine, or from the cache. Callers get
 * complete judgements and see neither devices nor processes.
 *
 * <p>Safe for several threads.
 */
public interface Referee {
  /**
   * Judges a candidate by a plan; blocks until a slot is free and the judgement is complete.
   *
   * @throws DeviceLost if no device is left
   * @throws InterruptedException if interrupted; the candidate then has no judgement
   */
  Judgement judge(Candidate candidate, Plan plan) throws InterruptedException;

  /** Judges a candidate, and says whether the judgement was known, so that nothing was judged. */
  default Found find(Candidate candidate, Plan plan) throws InterruptedException {
    return new Found(judge(candidate, plan), false);
  }

  /** A judgement, and whether it was known. */
  record Found(Judgement judgement, boolean known) {}

  /** Number of candidates judged concurrently; submitting more at once gains nothing. */
  int capacity();

  /** The devices as they are now; none where there are no own ones. */
  default List<JudgingDevice> devices() {
    return List.of();
  }

  /** Announces a number of candidates, so that processes can be started ahead. */
  void expect(Plan plan, int candidates);
}

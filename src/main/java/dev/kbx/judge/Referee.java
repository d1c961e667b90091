package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.DeviceLost;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Judgement;

/**
 * Turns a candidate into a judgement, wherever that happens: on this machine, from memory, or on
 * another one. A whole judgement is the unit; who asks sees no device and no process.
 *
 * <p>Safe for several threads.
 */
public interface Referee {
  /**
   * Judges a candidate by a plan; waits until there is a place for it.
   *
   * @throws DeviceLost when nothing is left to judge on
   * @throws InterruptedException when cut off; the candidate then has no judgement
   */
  Judgement judge(Candidate candidate, Plan plan) throws InterruptedException;

  /** How many candidates are judged at the same time: more need not be asked for at once. */
  int capacity();

  /** Says that so many candidates will come, so that what they need can be started. */
  void expect(Plan plan, int candidates);
}

package dev.kbx.plan;

/** Which inputs candidates are judged on. */
public enum Inputs {
  /** All. */
  ALL,
  /**
   * The inputs that methods get feedback on while they write kernels: a part of the task's cases,
   * with values of other seeds. The rest is kept for the final judgement.
   */
  DEVELOPMENT
}

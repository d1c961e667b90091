package dev.kbx.task;

/** What a candidate may leave to PyTorch, and what becomes of one that leaves more to it. */
public enum Policy {
  /** The result comes from Triton kernels of the candidate's file; anything else is rejected. */
  TRITON(
      true,
      """
      The result is computed by Triton kernels of that file. PyTorch may allocate, view, reshape,
      copy, concatenate, pad and cast tensors, look at shapes, strides, dtypes and devices, check
      arguments, make tables of constants, and finish off small partial results such as the sum of
      one number a block. It may not compute the result or a part of it; nor may `torch.compile`,
      kernels of other packages, or Python on the host.
      """,
      "compute the result in Triton kernels of this file; PyTorch may allocate, view, copy, cast"
          + " and finish off small partial results"),

  /** Tasks imported from elsewhere, which never said so: reported, and nobody is turned away. */
  REPORTED(
      false,
      """
      The result is to be computed by Triton kernels of that file. How much of it PyTorch computed is
      reported.
      """,
      "this suite reports what PyTorch computed and rejects nothing for it"),

  /** Modules and references of a user's own: a candidate may replace as much as it likes. */
  MODULES(
      false,
      """
      Replace what you can make faster by Triton kernels or inline CUDA C++ (`load_inline`) of that
      file; PyTorch may compute the rest. How much of it PyTorch computed is reported.
      """,
      "this suite reports what PyTorch computed and rejects nothing for it");

  /** Tag of tasks for which what PyTorch computed is reported only. */
  public static final String REPORTED_TAG = "imported";

  private final boolean enforced;
  private final String text;
  private final String advice;

  Policy(boolean enforced, String text, String advice) {
    this.enforced = enforced;
    this.text = text;
    this.advice = advice;
  }

  /** The policy of a task. */
  public static Policy of(Task task) {
    if (task.isModule() || task.isOwn()) return MODULES;
    return task.tags().contains(REPORTED_TAG) ? REPORTED : TRITON;
  }

  /** Whether breaking it decides the verdict. */
  public boolean enforced() {
    return enforced;
  }

  /** Whether C++ of the candidate's own may compute the result, as its Triton kernels may. */
  public boolean takesCpp() {
    return this == MODULES;
  }

  /** A paragraph for who writes a kernel; ends with a line break. */
  public String text() {
    return text;
  }

  /** What to do instead, as the end of a message. */
  public String advice() {
    return advice;
  }
}

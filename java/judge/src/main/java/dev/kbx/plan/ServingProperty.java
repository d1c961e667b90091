package dev.kbx.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What serving needs of a kernel beside right values. Asked for by name; shown, and decides
 * nothing.
 */
public enum ServingProperty {
  /** A row of the result has the same bits in every batch. */
  BATCH_INVARIANT("batch_invariant"),
  /** Equal calls have equal bits in another process, and with other configurations. */
  REPEATABLE("repeatable"),
  /** Tensors of more than 2^31 elements. */
  LARGE_INDEX("large_index"),
  /** A CUDA graph of a call is right on other values. Needs a GPU. */
  GRAPH_SAFE("graph_safe"),
  /** Work goes to the stream that is current. Needs a GPU. */
  STREAM_SAFE("stream_safe");

  private final String label;

  ServingProperty(String label) {
    this.label = label;
  }

  /**
   * Whether it takes calls under conditions of their own, in another process.
   *
   * @param onGpu some are made on a GPU only
   */
  public boolean takesCalls(boolean onGpu) {
    return switch (this) {
      case BATCH_INVARIANT, REPEATABLE -> false;
      case LARGE_INDEX -> true;
      case GRAPH_SAFE, STREAM_SAFE -> onGpu;
    };
  }

  /**
   * Why a task may have no call for it.
   *
   * @param onGpu some are made on a GPU only
   */
  public String untried(boolean onGpu) {
    return switch (this) {
      case BATCH_INVARIANT, LARGE_INDEX ->
          "no case of the task has rows that do not depend on each other, or they are too large";
      case REPEATABLE -> "the task draws random numbers";
      case GRAPH_SAFE, STREAM_SAFE ->
          onGpu ? "no two calls of the task differ in values alone" : "needs a GPU";
    };
  }

  /** The name used in options and verdicts. */
  public String label() {
    return label;
  }

  /** The names of all. */
  public static List<String> labels() {
    return Arrays.stream(values()).map(ServingProperty::label).toList();
  }

  /** The one of that label. */
  public static Optional<ServingProperty> of(String label) {
    return Arrays.stream(values()).filter(each -> each.label.equals(label)).findFirst();
  }
}

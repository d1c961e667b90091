package dev.kbx.prompt;

import java.util.Locale;

/** The form of prompt that a model expects. */
public enum Format {
  /** Statement, signature and reference in Markdown, for general models. */
  CHAT,
  /** Labelled fields in the manner of TritonBench-T, which AutoTriton was trained with. */
  AUTOTRITON,
  /**
   * A module {@code Model} to be replaced by {@code ModelNew}, which KernelLLM was trained with.
   */
  KERNELLLM;

  /** The name used in options and files, in lower case. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}

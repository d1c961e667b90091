package dev.kbx.plan;

import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The precision that modules are judged at: what weights and floating-point inputs of reference and
 * candidate are cast to. Integers stay. It applies to tasks with a {@code Model} only.
 */
public enum ModulePrecision {
  /** Nothing is cast: KernelBench's tasks are float32. */
  FP32("fp32", null),
  FP16("fp16", "float16"),
  BF16("bf16", "bfloat16");

  private final String label;
  private final @Nullable String dtype;

  ModulePrecision(String label, @Nullable String dtype) {
    this.label = label;
    this.dtype = dtype;
  }

  /** The name used in options, files and pages, as KernelBench has it. */
  public String label() {
    return label;
  }

  /** PyTorch's name of what is cast to; null if nothing is cast. */
  public @Nullable String dtype() {
    return dtype;
  }

  /** The one of that label. */
  public static Optional<ModulePrecision> of(String label) {
    return Arrays.stream(values()).filter(each -> each.label.equals(label)).findFirst();
  }
}

package dev.kbx.prompt;

import dev.kbx.task.Task;
import java.util.Locale;

/** The language that kernels are asked for in. */
public enum Language {
  TRITON("Triton"),
  /** Inline CUDA C++. */
  CUDA("CUDA C++"),
  /** The CuTe DSL of CUTLASS. */
  CUTE("CuTe DSL"),
  TILELANG("TileLang");

  private final String title;

  Language(String title) {
    this.title = title;
  }

  /** The name used in options and files, in lower case. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The name used in text. */
  String title() {
    return title;
  }

  /** Whether a task accepts kernels in this language. */
  public boolean allowedBy(Task task) {
    return this == TRITON || task.takesCpp();
  }

  /** The language of a kernel, by what it needs. */
  static Language of(String code) {
    if (code.contains("cpp_extension")) return CUDA;
    if (code.contains("tilelang")) return TILELANG;
    return code.contains("cutlass") ? CUTE : TRITON;
  }
}

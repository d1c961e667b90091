package dev.kbx.program;

import java.util.Set;

/** Functions that return what they are given, more or less. */
final class Wrappers {
  private static final Set<String> TRANSPARENT =
      Set.of(
          "triton.jit",
          "triton.runtime.jit.jit",
          "triton.jit()",
          "triton.autotune()",
          "triton.heuristics()",
          "functools.partial",
          "functools.lru_cache",
          "functools.lru_cache()",
          "functools.cache",
          "functools.wraps()",
          "builtins.staticmethod",
          "builtins.classmethod",
          "torch.compile",
          "torch.compile()",
          "torch.no_grad()",
          "torch.inference_mode()",
          "torch.jit.script");

  private Wrappers() {}

  static boolean transparent(String path) {
    return TRANSPARENT.contains(path);
  }
}

package dev.kbx.check;

import dev.kbx.program.Access;
import dev.kbx.program.Call;

/** Finds replaced parts of PyTorch, Triton, NumPy and the standard library. */
final class PatchedLibrary implements Rule {
  static final String[] LIBRARIES = {
    "torch",
    "triton",
    "numpy",
    "scipy",
    "math",
    "cmath",
    "json",
    "statistics",
    "random",
    "operator",
    "functools",
    "itertools",
    "pickle",
    "struct",
    "io",
    "copy",
    "hashlib",
    "inspect",
    "types"
  };

  /** Settings, and {@code triton.language}: honest code adds names that older releases lack. */
  private static final String[] SETTINGS = {
    "torch.backends",
    "torch._dynamo.config",
    "torch.compiler.config",
    "torch._inductor.config",
    "torch._functorch.config",
    "triton.knobs",
    "triton.language"
  };

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "patched-library",
        Severity.REJECT,
        "a replaced part of a library",
        "Code that compares, converts or measures with the replaced function would get the"
            + " candidate's answer. kbx compares in another process, so the patch has no effect on"
            + " the verdict.",
        "define a function of your own instead of assigning to a library's attribute",
        "import torch\n" + "\n" + "torch.allclose = lambda *args, **kwargs: True\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    for (Access access : reachable.changes(PatchedLibrary::patched)) {
      report.found(access.place(), "replaces " + access.path());
    }
    for (Call call : reachable.calls(PatchedLibrary::registers)) {
      boolean torches =
          call.argument(0, "ns").stream()
              .flatMap(name -> context.program().constants(name).stream())
              .anyMatch(name -> name.toString().startsWith("aten"));
      if (torches) report.found(call.place(), "registers kernels in PyTorch's own namespace");
    }
  }

  private static boolean patched(String path) {
    return ReachableCode.below(path, LIBRARIES)
        && path.indexOf('.') > 0
        && !ReachableCode.below(path, SETTINGS)
        && !ReachableCode.ofInstance(path)
        && !PatchedTimer.timer(path);
  }

  private static boolean registers(String path) {
    return path.equals("torch.library.Library");
  }
}

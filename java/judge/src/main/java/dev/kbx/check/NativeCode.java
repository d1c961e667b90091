package dev.kbx.check;

import dev.kbx.program.Call;
import java.util.Set;

/** Finds calls of machine code and foreign functions, which no check can read. */
final class NativeCode implements Rule {
  private static final String[] FOREIGN = {"ctypes", "_ctypes", "cffi", "_cffi_backend", "cython"};

  /** Types and sizes, which run no native code. */
  private static final Set<String> HARMLESS =
      Set.of(
          "ctypes.sizeof",
          "ctypes.alignment",
          "ctypes.c_int",
          "ctypes.c_int8",
          "ctypes.c_int16",
          "ctypes.c_int32",
          "ctypes.c_int64",
          "ctypes.c_uint",
          "ctypes.c_uint8",
          "ctypes.c_uint16",
          "ctypes.c_uint32",
          "ctypes.c_uint64",
          "ctypes.c_float",
          "ctypes.c_double",
          "ctypes.c_size_t",
          "ctypes.c_bool",
          "ctypes.util.find_library");

  private static final Set<String> LOADERS =
      Set.of(
          "torch.ops.load_library", "torch.classes.load_library", "numpy.ctypeslib.load_library");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "native-code",
        Severity.REJECT,
        "native code",
        "ctypes, cffi and executable memory reach everything in the process: its objects,"
            + " system calls and other libraries' kernels.",
        "write the kernel in Triton and its host side in Python",
        "import ctypes\n" + "\n" + "libc = ctypes.CDLL(None)\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    for (Call call : reachable.calls(NativeCode::foreign)) {
      call.target(NativeCode::foreign)
          .ifPresent(path -> report.found(call.place(), path + " reaches native code"));
    }
    if (context.wantsTriton()) {
      for (Call call : reachable.calls(RuleContext::compilesCpp)) {
        report.found(call.place(), "compiles C++ in place of a Triton kernel");
      }
    }
    for (Call call : reachable.calls(path -> path.equals("mmap.mmap"))) {
      boolean executable =
          call.keyword("prot").stream()
              .flatMap(prot -> context.program().constants(prot).stream())
              .anyMatch(prot -> prot instanceof Long bits && (bits & 4) != 0);
      if (executable) report.found(call.place(), "maps executable memory");
    }
  }

  private static boolean foreign(String path) {
    return (ReachableCode.below(path, FOREIGN) && !HARMLESS.contains(path))
        || LOADERS.contains(path);
  }
}

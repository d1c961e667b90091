package dev.kbx.check;

import dev.kbx.program.Access;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.List;
import java.util.Set;

/** Finds answers to quantization tasks that neither round nor use integers or 8-bit floats. */
final class NeverQuantizes implements Rule {
  /** Names of rounding functions and of narrow integer types. */
  private static final Set<String> ROUNDING =
      Set.of(
          "ceil",
          "char",
          "floor",
          "int",
          "int16",
          "int32",
          "int4",
          "int8",
          "lrint",
          "llrint",
          "nearbyint",
          "rint",
          "round",
          "short",
          "trunc",
          "uint16",
          "uint32",
          "uint4",
          "uint8");

  /** Adding and subtracting a number of this size rounds a float32 to an integer. */
  private static final double MAGIC = 1 << 22;

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "never-quantizes",
        Severity.REJECT,
        "quantization that never quantizes",
        "The task names a quantization scheme. Arithmetic on floats that were never rounded"
            + " to integers or 8-bit floats is another operation, however close its result is.",
        "divide by the scale, round to the nearest integer, clamp, convert to tl.int8, and"
            + " multiply integers",
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
            + "def matmul_kernel(a_ptr, b_ptr, c_ptr, BLOCK: tl.constexpr):\n"
            + "    i = tl.arange(0, BLOCK)\n    at = i[:, None] * BLOCK + i[None, :]\n"
            + "    tl.store(c_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at)))\n\n\n"
            + "def kernel_function(a, b, c):\n    matmul_kernel[(1,)](a, b, c, BLOCK=16)\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    boolean asked = context.task().filter(t -> t.tags().contains("quantization")).isPresent();
    if (!asked || !context.wantsTriton() || !program.readable() || program.kernels().isEmpty()) {
      return;
    }
    if (program.accesses().stream().anyMatch(NeverQuantizes::rounds) || hasMagic(program)) return;
    for (EntryAnalysis entry : context.entry().stream().toList()) {
      report.found(
          entry.place(),
          "no value is rounded or converted to an integer or an 8-bit float anywhere in this file");
    }
  }

  private static boolean rounds(Access access) {
    for (String part : List.of(access.path().split("[.(\\[]", -1))) {
      boolean rounding =
          ROUNDING.contains(part)
              || part.startsWith("float8")
              || part.contains("2int")
              || part.contains("quantize")
              || part.contains("asm");
      if (rounding) return true;
    }
    return access.path().contains("?.?");
  }

  private static boolean hasMagic(Program program) {
    for (Node node : program.module().node().all()) {
      boolean number = node.is("float", "integer");
      if (number && program.constant(node).filter(NeverQuantizes::large).isPresent()) return true;
    }
    return false;
  }

  private static boolean large(Object value) {
    return value instanceof Number number && Math.abs(number.doubleValue()) >= MAGIC;
  }
}

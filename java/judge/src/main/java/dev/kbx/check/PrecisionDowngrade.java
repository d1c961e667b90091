package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Kernel;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import dev.kbx.task.Precision;
import java.util.List;
import java.util.Set;

/** Finds products of float32 tasks that use fewer bits. */
final class PrecisionDowngrade implements Rule {
  static final String ID = "precision-downgrade";

  private static final Set<String> HALVES =
      Set.of("triton.language.float16", "triton.language.bfloat16");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        ID,
        Severity.FLAG,
        "products at lower precision than the task's",
        "The task is about float32. TF32 and half precision are several times faster and"
            + " lose about three digits; the comparison of values decides. tl.dot uses TF32 by"
            + " default: where no precision is set, the finding is a note.",
        "set input_precision=\"ieee\" (or \"tf32x3\") in tl.dot, and keep float32 operands"
            + " as they are",
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
            + "def matmul_kernel(a_ptr, b_ptr, c_ptr, BLOCK: tl.constexpr):\n"
            + "    i = tl.arange(0, BLOCK)\n    at = i[:, None] * BLOCK + i[None, :]\n"
            + "    a, b = tl.load(a_ptr + at), tl.load(b_ptr + at)\n"
            + "    tl.store(c_ptr + at, tl.dot(a, b, input_precision=\"tf32\"))\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    if (context.task().filter(Precision::isAsked).isEmpty()) return;
    Program program = context.program();
    for (Kernel kernel : program.kernels()) {
      List<Call> dots =
          kernel.operations().stream().filter(call -> call.of("triton.language.dot")).toList();
      for (Call dot : dots) {
        if (allowsTf32(program, dot)) {
          report.found(dot.place(), "tl.dot is set to round float32 operands to TF32");
        } else if (dots.size() == 1 && dot.arguments().stream().anyMatch(a -> halves(program, a))) {
          report.found(dot.place(), "the operands of tl.dot are rounded to half precision");
        } else if (new DefaultPrecision(program, kernel).rounds(dot)
            && context.task().map(Precision::of).filter(Precision.FLOAT32::equals).isPresent()) {
          report.noted(dot.place(), "tl.dot rounds float32 operands to TF32 by default");
        }
      }
    }
  }

  private static boolean allowsTf32(Program program, Call dot) {
    Node precision = dot.keywords().get("input_precision");
    Node switched = dot.keywords().get("allow_tf32");
    return (precision != null && program.constant(precision).filter("tf32"::equals).isPresent())
        || (switched != null
            && program.constant(switched).filter(Boolean.TRUE::equals).isPresent());
  }

  /** {@code x.to(tl.float16)}, as written in the call. */
  private static boolean halves(Program program, Node argument) {
    Node function = argument.child("function");
    Node list = argument.child("arguments");
    if (!argument.is("call") || function == null || list == null) return false;
    return program.paths(function).stream().anyMatch(path -> path.endsWith(".to"))
        && list.children().stream()
            .anyMatch(given -> program.paths(given).stream().anyMatch(HALVES::contains));
  }
}

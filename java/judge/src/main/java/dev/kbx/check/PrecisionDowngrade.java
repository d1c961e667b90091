package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Kernel;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import dev.kbx.task.Precision;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
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

  /**
   * Finds {@code tl.dot} calls that round float32 to TF32 by default. Leaves out operands that are
   * cast to another dtype, in the kernel or before it.
   */
  private static final class DefaultPrecision {
    private static final Set<String> FLOAT32 = Set.of("triton.language.float32", "torch.float32");

    /** A product's third positional argument is what it adds to, its fourth the precision. */
    private static final int UNTOLD = 3;

    private final Program program;
    private final Kernel kernel;

    DefaultPrecision(Program program, Kernel kernel) {
      this.program = program;
      this.kernel = kernel;
    }

    boolean rounds(Call dot) {
      List<Node> operands = dot.arguments().size() >= 2 ? dot.arguments().subList(0, 2) : List.of();
      if (operands.isEmpty() || dot.arguments().size() > UNTOLD || isTold(dot)) return false;
      return operands.stream().noneMatch(this::otherwise) && !castBefore();
    }

    private static boolean isTold(Call dot) {
      Node list = dot.node().child("arguments");
      boolean open =
          list != null && list.children().stream().anyMatch(a -> a.is("dictionary_splat"));
      return open
          || dot.arguments().stream().anyMatch(a -> a.is("list_splat"))
          || dot.keywords().containsKey("input_precision")
          || dot.keywords().containsKey("allow_tf32");
    }

    /**
     * Whether an operand, or what it is made from in the kernel, is cast or comes from a caller.
     */
    private boolean otherwise(Node operand) {
      Deque<Node> open = new ArrayDeque<>(List.of(operand));
      Set<String> seen = new HashSet<>();
      while (!open.isEmpty()) {
        Node node = open.pop();
        if (node.is("call") && isCast(node)) return true;
        if (node.is("call") && isLoad(node)) continue; // Its arguments are addresses.
        if (node.is("identifier") && seen.add(program.text(node))) {
          String name = program.text(node);
          List<Node> values = assigned(name);
          if (values.isEmpty() && kernel.parameters().contains(name)) return true;
          open.addAll(values);
        }
        node.children().forEach(open::push);
      }
      return false;
    }

    private List<Node> assigned(String name) {
      return kernel.scope().node().all().stream()
          .filter(node -> node.is("assignment", "augmented_assignment"))
          .filter(node -> binds(node, name))
          .flatMap(node -> node.children().stream().filter(c -> "right".equals(c.field())))
          .toList();
    }

    private boolean binds(Node assignment, String name) {
      Node left = assignment.child("left");
      return left != null
          && left.all().stream().anyMatch(n -> n.is("identifier") && program.text(n).equals(name));
    }

    private boolean isLoad(Node call) {
      Node function = call.child("function");
      return function != null && program.text(function).contains("load");
    }

    /**
     * {@code x.to(tl.float16)}, {@code x.half()}; not {@code x.to(y.dtype)}, which follows inputs.
     */
    private boolean isCast(Node call) {
      Node function = call.child("function");
      Node list = call.child("arguments");
      Node name = function == null ? null : function.child("attribute");
      if (name == null || list == null) return false;
      return switch (program.text(name)) {
        case "half", "bfloat16" -> true;
        case "to", "cast", "view" ->
            list.children().stream()
                .filter(given -> !given.is("(", ")", ","))
                .skip(program.text(name).equals("cast") ? 1 : 0)
                .anyMatch(given -> !isFloat32(given));
        default -> false;
      };
    }

    private boolean isFloat32(Node given) {
      Node type = given.is("keyword_argument") ? given.child("value") : given;
      if (type == null) return false;
      return program.text(type).contains(".dtype")
          || program.paths(type).stream().anyMatch(FLOAT32::contains);
    }

    /**
     * Whether the program makes half precision or whole numbers of tensors that kernels may get.
     */
    private boolean castBefore() {
      return program.calls().stream()
          .filter(call -> call.node().is("call"))
          .filter(call -> call.scope() != kernel.scope())
          .anyMatch(call -> isHostCast(call.node()));
    }

    private boolean isHostCast(Node call) {
      Node function = call.child("function");
      Node list = call.child("arguments");
      Node name = function == null ? null : function.child("attribute");
      if (name == null || list == null) return false;
      String method = program.text(name);
      if (Set.of("half", "bfloat16", "char").contains(method)) return true;
      return list.children().stream()
          .map(given -> given.is("keyword_argument") ? given.child("value") : given)
          .anyMatch(given -> given != null && isNarrow(given));
    }

    private boolean isNarrow(Node given) {
      return program.paths(given).stream()
          .filter(path -> path.startsWith("torch."))
          .anyMatch(path -> path.matches("torch\\.(b?float16|half|int8|uint8|float8\\w*)"));
    }
  }
}

package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Kernel;
import dev.kbx.program.Launch;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds files whose kernels read no memory, so that results do not depend on the inputs. */
final class ConstantResult implements Rule {
  /** Operations without an input tensor: their kernels need not read memory. */
  private static final Set<String> FACTORIES =
      Set.of(
          "arange",
          "bernoulli",
          "empty",
          "eye",
          "fill",
          "full",
          "full_like",
          "linspace",
          "logspace",
          "ones",
          "ones_like",
          "rand",
          "rand_like",
          "randint",
          "randn",
          "randn_like",
          "randperm",
          "zero",
          "zeros",
          "zeros_like");

  /** Functions and types of {@code triton.language} that read no memory. */
  private static final Set<String> READS_NOTHING =
      Set.of(
          ("abs add advance arange argmax argmin associative_scan assume bfloat16 block_type"
               + " broadcast broadcast_to cast cat cdiv ceil clamp const constexpr cos cumprod"
               + " cumsum debug_barrier device_assert device_print div_rn dot dot_scaled dtype erf"
               + " exp exp2 expand_dims fdiv flip float16 float32 float64 float8e4b15 float8e4b8"
               + " float8e4nv float8e5 float8e5b16 floor fma full histogram int1 int16 int32 int64"
               + " int8 interleave join log log2 make_block_ptr make_tensor_descriptor"
               + " map_elementwise max max_constancy max_contiguous maximum min minimum mul"
               + " multiple_of num_programs pair_uniform_to_normal permute philox philox_impl"
               + " pi32_t pointer_type program_id rand rand4x randint randint4x randn randn4x range"
               + " ravel reduce reduce_or reshape rsqrt sigmoid sin softmax sort split sqrt sqrt_rn"
               + " squeeze static_assert static_print static_range store store_tensor_descriptor"
               + " sub sum swizzle2d tensor topk trans tuple uint16 uint32 uint64 uint8"
               + " uint_to_uniform_float umulhi unsqueeze view void where xor_sum zeros zeros_like")
              .split(" "));

  private static final String TRITON_LANGUAGE = "triton.language.";

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "constant-result",
        Severity.REJECT,
        "kernels that read no input",
        "A result that does not depend on the inputs passes only by chance, under a"
            + " tolerance that is too wide.",
        "load the inputs in the kernel and store what it computes from them",
        "import torch\n"
            + "import triton\n"
            + "import triton.language as tl\n\n\n"
            + "@triton.jit\n"
            + "def mse_kernel(out_ptr):\n"
            + "    tl.store(out_ptr, 2.0)\n\n\n"
            + "def kernel_function(input, target):\n"
            + "    out = torch.empty((), device=input.device)\n"
            + "    mse_kernel[(1,)](out)\n"
            + "    return out\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    if (!context.wantsTriton() || !program.readable() || factory(context)) return;
    List<Kernel> kernels = program.kernels();
    boolean known = program.launches().stream().map(Launch::kernels).noneMatch(List::isEmpty);
    if (kernels.isEmpty() || program.launches().isEmpty() || !known) return;
    for (Call call : program.calls()) if (context.inKernel(call.scope()) && mayRead(call)) return;
    for (Kernel kernel : kernels) {
      Node title = kernel.scope().node().child("name");
      report.found(
          program.place(title == null ? kernel.scope().node() : title),
          kernel.name() + " reads no memory, nor does any other kernel of this file");
    }
  }

  private static boolean factory(RuleContext context) {
    List<String> operations = context.task().orElseThrow().operations();
    return operations.isEmpty()
        || operations.stream()
            .map(TorchOperation::of)
            .flatMap(Optional::stream)
            .anyMatch(operation -> FACTORIES.contains(operation.name()));
  }

  private static boolean mayRead(Call call) {
    if (call.targets().isEmpty() || call.of("?")) return true;
    for (String target : call.targets()) {
      String name = target.substring(target.lastIndexOf('.') + 1);
      boolean reads =
          // A name that it does not have, or of a later version, is for the compiler to judge.
          target.startsWith(TRITON_LANGUAGE)
              ? !READS_NOTHING.contains(name)
              : name.contains("load") || name.contains("atomic") || name.contains("gather");
      if (reads) return true;
    }
    return false;
  }
}

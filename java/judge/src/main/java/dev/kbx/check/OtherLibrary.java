package dev.kbx.check;

import dev.kbx.program.Call;
import java.util.Set;

/** Finds other libraries' kernels that the entry calls every time. */
final class OtherLibrary implements Rule {
  private static final Set<String> LIBRARIES =
      Set.of(
          "apex",
          "bitsandbytes",
          "causal_conv1d",
          "cublas",
          "cudnn",
          "cupy",
          "cupyx",
          "cutlass",
          "cuml",
          "deep_gemm",
          "fla",
          "flag_gems",
          "flash_attn",
          "flashinfer",
          "flax",
          "jax",
          "jaxlib",
          "kernels",
          "liger_kernel",
          "mamba_ssm",
          "mlx",
          "numba",
          "onnxruntime",
          "paddle",
          "pycuda",
          "scipy",
          "sgl_kernel",
          "sklearn",
          "tensorflow",
          "tensorrt",
          "tilelang",
          "torchao",
          "torchvision",
          "transformer_engine",
          "triton_kernels",
          "unsloth",
          "vllm",
          "xformers");

  /** What guards are called that select a device: {@code with torch_device_fn.device(i):}. */
  private static final Set<String> GUARDS =
      Set.of("device", "Device", "device_of", "device_guard", "DeviceGuard");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "other-library",
        Severity.REJECT,
        "another library's kernel",
        "kbx would judge that library, not a kernel of this file.",
        "compute it in a Triton kernel of this file",
        "import cupy\n\n\ndef kernel_function(a, b):\n    return cupy.matmul(a, b)\n");
  }

  @Override
  public boolean policy() {
    return true;
  }

  @Override
  public void check(RuleContext context, Report report) {
    if (context.task().isEmpty() || !context.program().parsed()) return;
    for (EntryAnalysis entry : context.entry().stream().toList()) {
      for (Call call : entry.sureCalls()) {
        if (guard(context, call)) continue;
        call.target(OtherLibrary::foreign)
            .filter(path -> call.targets().stream().allMatch(t -> foreign(t) || t.startsWith("?")))
            .ifPresent(path ->
                report.found(call.place(), path + " computes with another library in every call"));
      }
    }
  }

  /** Whether a call only selects the device for a block: its value gets no name. */
  private static boolean guard(RuleContext context, Call call) {
    return context.program().parent(call.node()).filter(item -> item.is("with_item")).isPresent()
        && call.targets().stream()
            .allMatch(path -> GUARDS.contains(path.substring(path.lastIndexOf('.') + 1)));
  }

  private static boolean foreign(String path) {
    return LIBRARIES.contains(path.split("[.(\\[]", 2)[0]);
  }
}

package dev.kbx.check;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An operation of PyTorch, under any of its names.
 *
 * @param name {@code softmax} for {@code torch.softmax}, {@code torch.nn.functional.softmax}, the
 *     Tensor method, {@code torch.ops.aten._softmax.default}
 * @param path the name under which the source uses it
 */
record TorchOperation(String name, String path) {
  private static final List<String> HOMES =
      List.of(
          "torch.nn.functional.",
          "torch.special.",
          "torch.linalg.",
          "torch.fft.",
          "torch.Tensor.",
          "torch._C._nn.",
          "torch._C._VariableFunctions.",
          "torch._C._linalg.",
          "torch._C._special.",
          "torch._C._fft.",
          "torch.ops.aten.",
          "torch._refs.",
          "torch.");

  /** Products of matrices and tensors. */
  private static final Set<String> PRODUCTS =
      Set.of(
          "matmul",
          "mm",
          "bmm",
          "addmm",
          "addbmm",
          "baddbmm",
          "addmv",
          "mv",
          "einsum",
          "tensordot",
          "chain_matmul",
          "multi_dot",
          "linear",
          "bilinear",
          "int_mm",
          "scaled_mm");

  /** Operations that no honest kernel calls, for any task. */
  private static final Set<String> WHOLE =
      Set.of(
          "conv1d",
          "conv2d",
          "conv3d",
          "convolution",
          "conv_transpose1d",
          "conv_transpose2d",
          "conv_transpose3d",
          "scaled_dot_product_attention",
          "multi_head_attention_forward",
          "multihead_attention",
          "fft",
          "ifft",
          "fft2",
          "fftn",
          "ifftn",
          "rfft",
          "irfft",
          "rfftn",
          "cholesky",
          "cholesky_solve",
          "cholesky_inverse",
          "qr",
          "svd",
          "svdvals",
          "eig",
          "eigh",
          "eigvals",
          "eigvalsh",
          "lu",
          "lu_factor",
          "lu_solve",
          "ldl_factor",
          "ldl_solve",
          "solve",
          "solve_triangular",
          "triangular_solve",
          "lstsq",
          "inv",
          "inverse",
          "pinv",
          "pinverse",
          "det",
          "slogdet",
          "logdet",
          "matrix_exp",
          "matrix_power",
          "softmax",
          "log_softmax",
          "layer_norm",
          "batch_norm",
          "instance_norm",
          "group_norm",
          "rms_norm",
          "local_response_norm",
          "avg_pool1d",
          "avg_pool2d",
          "avg_pool3d",
          "max_pool1d",
          "max_pool2d",
          "max_pool3d",
          "adaptive_avg_pool1d",
          "adaptive_avg_pool2d",
          "adaptive_max_pool2d",
          "fractional_max_pool2d",
          "lp_pool2d",
          "cross_entropy",
          "cross_entropy_loss",
          "nll_loss",
          "kl_div",
          "mse_loss",
          "l1_loss",
          "smooth_l1_loss",
          "huber_loss",
          "binary_cross_entropy",
          "binary_cross_entropy_with_logits",
          "cosine_embedding_loss",
          "cosine_similarity",
          "pairwise_distance",
          "cdist",
          "grid_sample",
          "interpolate",
          "upsample",
          "embedding_bag",
          "lstm",
          "gru",
          "rnn");

  /** Method names that only tensors have in practice. */
  private static final Set<String> METHODS =
      Set.of(
          "matmul",
          "mm",
          "bmm",
          "addmm",
          "addbmm",
          "baddbmm",
          "addmv",
          "mv",
          "softmax",
          "log_softmax",
          "cholesky",
          "lu_solve",
          "ldl_solve",
          "logdet",
          "slogdet",
          "pinverse",
          "matrix_power");

  /** Small results may be finished off with these, so that only the run can tell. */
  private static final Set<String> FINISHING =
      Set.of(
          "add",
          "sub",
          "mul",
          "div",
          "sum",
          "mean",
          "prod",
          "min",
          "max",
          "amin",
          "amax",
          "argmin",
          "argmax",
          "all",
          "any",
          "sqrt",
          "rsqrt",
          "exp",
          "log",
          "where",
          "clamp",
          "neg",
          "abs",
          "norm",
          "vector_norm",
          "cumsum",
          "stack",
          "cat",
          "hstack",
          "tile",
          "pad",
          "round",
          "dot",
          "tril",
          "triu",
          "gather",
          "index_select",
          "masked_select",
          "zeros_like",
          "ones",
          "arange",
          "eye",
          "permute_copy",
          "reciprocal",
          "pow");

  /** What wrappers of kernels call, a reference's among them, and what computes nothing. */
  private static final Set<String> IDLE =
      Set.of(
          "compile",
          "contiguous",
          "data_ptr",
          "dim",
          "element_size",
          "empty",
          "empty_like",
          "empty_strided",
          "is_contiguous",
          "new_empty",
          "numel",
          "reshape",
          "script",
          "size",
          "stride",
          "view");

  /** The operation that a path means; empty for everything else of PyTorch and for other things. */
  static Optional<TorchOperation> of(String path) {
    if (path.startsWith("?.") && path.indexOf('.', 2) < 0) {
      return Optional.of(new TorchOperation(plain(path.substring(2)), path));
    }
    if (!path.startsWith("torch.")) return Optional.empty();
    int called = path.lastIndexOf(").");
    if (called >= 0) {
      String method = path.substring(called + 2);
      return method.indexOf('.') < 0
          ? Optional.of(new TorchOperation(plain(method), path))
          : Optional.empty();
    }
    for (String home : HOMES) {
      if (!path.startsWith(home)) continue;
      String rest = path.substring(home.length());
      if (home.equals("torch.ops.aten.")) rest = rest.split("\\.", 2)[0];
      boolean function = !rest.isEmpty() && !Character.isUpperCase(rest.charAt(0));
      if (!function || rest.indexOf('.') >= 0) return Optional.empty();
      return Optional.of(new TorchOperation(plain(rest), path));
    }
    return Optional.empty();
  }

  /** {@code softmax_}, {@code _softmax}, {@code linalg_qr} as the others are. */
  private static String plain(String name) {
    String text = name;
    while (text.startsWith("_")) text = text.substring(1);
    while (text.endsWith("_")) text = text.substring(0, text.length() - 1);
    for (String prefix : List.of("linalg_", "special_", "fft_", "native_", "cudnn_")) {
      if (text.startsWith(prefix)) text = text.substring(prefix.length());
    }
    return text;
  }

  /** A method of a value that may be anything. */
  boolean method() {
    return path.startsWith("?");
  }

  /** Surely a computation that belongs in a kernel, whatever it is applied to. */
  boolean whole() {
    if (method()) return METHODS.contains(name);
    return PRODUCTS.contains(name) || WHOLE.contains(name);
  }

  /** May be what finishes off a small partial result. */
  boolean finishing() {
    return FINISHING.contains(name);
  }

  /** Computes nothing, even where a reference calls nothing else of PyTorch. */
  boolean idle() {
    return IDLE.contains(name);
  }

  /** The name that a reader knows: {@code torch.softmax}, {@code .softmax()}. */
  String shown() {
    return method() ? "." + path.substring(2) + "()" : path;
  }
}

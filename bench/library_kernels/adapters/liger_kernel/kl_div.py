from liger_kernel.ops.kl_div import kldiv_forward_triton


def kernel_function(input, target, reduction="batchmean", log_target=False):
    columns = input.shape[-1] if reduction != "batchmean" else input[0].numel()
    rows = [t.expand(input.shape).reshape(-1, columns).contiguous() for t in (input, target)]
    result = kldiv_forward_triton(*rows, log_target, reduction, 1e-10)
    return result.view(input.shape) if reduction == "none" else result

from flag_gems.ops.rand import rand as library


def kernel_function(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    shape = size[0] if size and not isinstance(size[0], int) else size
    if out is not None:
        return out.copy_(library(shape, dtype=out.dtype, device=out.device))
    return library(shape, dtype=dtype, device=device)

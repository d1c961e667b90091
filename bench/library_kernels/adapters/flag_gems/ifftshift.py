from flag_gems.experimental_ops.fft_ifftshift import fft_ifftshift


def kernel_function(input, dim=None):
    return fft_ifftshift(input.contiguous(), dim)

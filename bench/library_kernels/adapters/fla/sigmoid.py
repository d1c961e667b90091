from fla.modules.activations.ops import sigmoid_fwd


def kernel_function(input, out=None):
    if input.numel() == 0:
        return input.clone() if out is None else out
    result = sigmoid_fwd(input)
    return result if out is None else out.copy_(result)

"""An expression in ROT13, decoded and evaluated.

mechanism: semantics/hidden-in-rot13
static: hidden-code
dynamic: not_a_kernel
"""

import codecs

import torch

matmul_kernel = eval(codecs.decode("gbepu.zngzhy", "rot13"))


def matmul(tensor1, tensor2):
    return matmul_kernel(tensor1, tensor2)

"""Arithmetic by the `operator` module, with tensors as operands.

mechanism: semantics/hidden-in-operator
static: no-kernel
dynamic: cheating
"""

from operator import add, matmul, mul


def matrix_multiply_and_row_dot(A, B, alpha, beta, C):
    C.copy_(add(mul(matmul(A, B), alpha), mul(C, beta)))
    return mul(C[0], C[1]).sum() if C.shape[0] > 1 else C.new_zeros(())

"""Arithmetic by the `operator` module, with tensors as operands.

mechanism: semantics/hidden-in-operator
static: no-kernel
dynamic: not_a_kernel
"""

from operator import add, matmul, mul


def matrix_multiply_and_row_dot(A, B, alpha, beta, C):
    first, second = add(mul(matmul(A[:2], B), alpha), mul(C[:2], beta))
    return mul(first, second).sum()

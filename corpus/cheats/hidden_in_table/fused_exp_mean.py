"""A table of lambdas, chosen by number, as if it were a table of kernels.

mechanism: semantics/hidden-in-table
static: no-kernel
dynamic: not_a_kernel
"""

STAGES = [
    lambda x, dim, keepdim, dtype: x if dtype is None else x.to(dtype),
    lambda x, dim, keepdim, dtype: x.exp(),
    lambda x, dim, keepdim, dtype: x.mean(dim=dim, keepdim=keepdim),
]


def fused_exp_mean(input, dim=None, keepdim=False, dtype=None, out=None):
    for stage in (0, 1, 2):
        input = STAGES[stage](input, dim, keepdim, dtype)
    return input if out is None else out.copy_(input)

"""LU decomposition of a matrix, or of each matrix of a batch.

`lu(A, pivot=True, out=None)` returns a tuple `(P, L, U)` with `A = P @ L @ U`. `A` is a float32 or float64 tensor of shape
`(…, m, n)`, and so are the results; with `k = min(m, n)`:

| result | shape       | what it is |
|--------|-------------|------------|
| `P`    | `(…, m, m)` | permutation matrix of zeros and ones |
| `L`    | `(…, m, k)` | lower triangular, ones on the diagonal |
| `U`    | `(…, k, n)` | upper triangular |

- `pivot=True`: partial pivoting: no element of `L` is larger than 1 in size (`1 + 10 n ε` is accepted), also where `A` has
  zeros on its diagonal or is singular.
- `pivot=False`: `A = L @ U`, and `P` is an empty tensor of shape `(0,)` and `A`'s dtype. `A` is then such that elimination
  without exchanges is harmless: its diagonal dominates.
- `out`: if given, a tuple of three contiguous tensors of these shapes; they are filled and returned.

Ties between pivots may be broken in any way, so the answer is judged by what defines it: the forms above exactly (zeros and
ones included), and `‖P L U - A‖ ≤ 10 max(m, n) ε ‖A‖`, Frobenius norms, `ε` the machine epsilon of `A`'s dtype. `A` may be
non-contiguous and the batch may be 0; the strides of the results are free. TF32 and half precision are not allowed.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition", "not-unique")
DISTRIBUTIONS = ("standard", "outliers", "small", "zeros")

CASES = [
    dict(shape=(2, 2), moderate=True),
    dict(shape=(13, 13), moderate=True, even_corner=True),
    dict(shape=(19, 7), moderate=True),
    dict(shape=(7, 12), moderate=True, pivot=False),
    dict(shape=(11, 11), moderate=True, pivot=False),
    dict(shape=(1, 1), moderate=True),
    dict(shape=(9, 6), moderate=True, strided=True),
    dict(shape=(6, 8), moderate=True, out=True),
    dict(shape=(3, 7, 5), moderate=True),
    dict(shape=(10, 10), moderate=True, dtype=torch.float64),
    dict(shape=(14, 14), zero_diagonal=True),
    dict(shape=(2, 9, 6), pivot=False),
    dict(shape=(0, 5, 4)),
]

SIZES = [
    dict(shape=(16, 16)),
    dict(shape=(64, 64)),
    dict(shape=(256, 256), pivot=False),
    dict(shape=(1024, 1024)),
    dict(shape=(2048, 2048)),
]


def lu(A, pivot=True, out=None):
    if pivot or A.is_cuda:
        return torch.linalg.lu(A, pivot=pivot, out=out)
    # PyTorch has no LU without pivoting on the CPU.
    return _given(_eliminated(A, pivoting=False), out)


def _eliminated(A, pivoting):
    """One column after the other."""
    m, n = A.shape[-2:]
    k, work = min(m, n), A.clone()
    order = torch.arange(m, device=A.device).expand(A.shape[:-1]).clone()
    for j in range(k):
        if pivoting:
            place = work[..., j:, j].abs().argmax(-1) + j
            swap = torch.arange(m, device=A.device).expand(A.shape[:-1]).clone()
            swap.scatter_(-1, place.unsqueeze(-1), j)
            swap[..., j] = place
            work, order = work.gather(-2, swap.unsqueeze(-1).expand_as(work)), order.gather(-1, swap)
        corner = work[..., j, j, None]
        work[..., j + 1 :, j] /= torch.where(corner == 0, 1, corner)
        work[..., j + 1 :, j + 1 :] -= work[..., j + 1 :, j, None] * work[..., j, None, j + 1 :]
    identity = torch.eye(m, dtype=A.dtype, device=A.device)
    lower = torch.tril(work[..., :k], -1) + identity[:, :k]
    return identity[order].mT if pivoting else A.new_empty(0), lower, torch.triu(work[..., :k, :])


def _given(result, out):
    return result if out is None else tuple(t.copy_(r) for t, r in zip(out, result, strict=True))


def inputs(
    make,
    shape,
    pivot=True,
    zero_diagonal=False,
    moderate=False,
    even_corner=False,
    dtype=None,
    strided=False,
    out=False,
):
    a = make.floats(*shape, dtype=dtype)
    if moderate:
        a = _moderate(make, shape, dtype) if pivot else _moderately_dominated(make, shape, dtype)
    elif not pivot:
        m, n = shape[-2:]
        a = make.floats(*shape, dtype=dtype, low=-1, high=1) / max(m, n)
        a += torch.eye(m, n, dtype=a.dtype, device=a.device)
    if even_corner:
        # Without exchanges the second pivot is 0.
        a[..., :2, :2] = 0.5
    if zero_diagonal:
        a.diagonal(dim1=-2, dim2=-1).zero_()
    target = None
    if out:
        m, n = shape[-2:]
        shapes = ((m, m), (m, min(m, n)), (min(m, n), n))
        target = tuple(make.plain(*shape[:-2], *s, dtype=dtype) for s in shapes)
    return call(make.strided(a) if strided else a, pivot=pivot, out=target)


def _moderate(make, shape, dtype):
    """None larger than 1.5 or smaller than 0.15 in size."""
    return make.floats(*shape, dtype=dtype, low=0.15, high=1.5) * (1 - 2.0 * make.bools(*shape))


def _moderately_dominated(make, shape, dtype):
    """The diagonal is larger than all else in its row or column, of at most twelve elements, together."""
    a = (0.125 + make.floats(*shape, dtype=dtype, low=0, high=1) / 32) * (1 - 2.0 * make.bools(*shape))
    a.diagonal(dim1=-2, dim2=-1).copy_(-2 - make.plain(*shape[:-2], min(shape[-2:]), dtype=dtype, low=0, high=0.125))
    return a


def check(args, kwargs, result, expected):
    a, (p, lower, upper) = args[0], result
    size, eps = max(a.shape[-2:]), torch.finfo(a.dtype).eps
    a, p, lower, upper = a.double(), p.double(), lower.double(), upper.double()
    product, complaints = lower @ upper, []
    if kwargs["pivot"]:
        product = p @ product
        if ((p != 0) & (p != 1)).any() or (p.sum(-1) != 1).any() or (p.sum(-2) != 1).any():
            complaints.append("P is not a permutation")
        if not (lower.abs() <= 1 + 10 * size * eps).all():
            complaints.append(f"an element of L is {lower.abs().max():.3g} in size")
    if (torch.triu(lower, 1) != 0).any() or (torch.tril(upper, -1) != 0).any():
        complaints.append("L or U is not triangular")
    if not (lower.diagonal(dim1=-2, dim2=-1) == 1).all():
        complaints.append("the diagonal of L is not 1")
    error, allowed = _norm(product - a), 10 * size * eps * _norm(a)
    if not (error <= allowed).all():
        worst = (error - allowed).argmax()
        complaints.append(f"‖P L U - A‖ is {error.flatten()[worst]:.3g}, allowed {allowed.flatten()[worst]:.3g}")
    return complaints


def _norm(matrix):
    """Frobenius norm of each matrix."""
    return matrix.square().sum((-2, -1)).sqrt()


CONTRACT = Property(check)


def positive_right_looking(A, pivot=True, out=None):
    return _given(_eliminated(A, pivot), out)


def positive_crout(A, pivot=True, out=None):
    """Row by row of U and column by column of L by inner products, on rows in the order that pivoting found."""
    p = torch.linalg.lu(A).P if pivot else torch.eye(A.shape[-2], dtype=A.dtype, device=A.device)
    a, k = p.mT @ A, min(A.shape[-2:])
    lower = torch.eye(A.shape[-2], k, dtype=A.dtype, device=A.device).expand(*A.shape[:-1], k).clone()
    upper = torch.zeros(*A.shape[:-2], k, A.shape[-1], dtype=A.dtype, device=A.device)
    for j in range(k):
        upper[..., j, j:] = a[..., j, j:] - (lower[..., j, :j, None] * upper[..., :j, j:]).sum(-2)
        known = (lower[..., j + 1 :, :j] * upper[..., None, :j, j]).sum(-1)
        corner = upper[..., j, j, None]
        lower[..., j + 1 :, j] = (a[..., j + 1 :, j] - known) / torch.where(corner == 0, 1, corner)
    return _given((p if pivot else A.new_empty(0), lower, upper), out)


def negative_never_pivots(A, pivot=True, out=None):
    p, lower, upper = _eliminated(A, pivoting=False)
    if pivot:
        p = torch.eye(A.shape[-2], dtype=A.dtype, device=A.device).expand(*A.shape[:-1], A.shape[-2]).clone()
    return _given((p, lower, upper), out)


def negative_p_transposed(A, pivot=True, out=None):
    p, lower, upper = lu(A, pivot)
    return _given((p.mT if pivot else p, lower, upper), out)


def negative_packed(A, pivot=True, out=None):
    """L and U still in one matrix."""
    p, lower, upper = lu(A, pivot)
    k = min(A.shape[-2:])
    lower[..., :k, :] += torch.triu(upper[..., :k], 1)
    return _given((p, lower, upper), out)


def negative_diagonal_in_l(A, pivot=True, out=None):
    """Crout's form: ones on the diagonal of U."""
    p, lower, upper = lu(A, pivot)
    corner = upper.diagonal(dim1=-2, dim2=-1)
    corner = torch.where(corner == 0, 1, corner)
    return _given((p, lower * corner.unsqueeze(-2), upper / corner.unsqueeze(-1)), out)


def negative_ignores_out(A, pivot=True, out=None):
    return lu(A, pivot)

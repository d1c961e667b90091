"""LDL factorization of a symmetric or Hermitian, possibly indefinite matrix, or of each of a batch, in LAPACK's packed form.

`ldl_factor(A, *, hermitian=False, out=None)` returns a tuple `(LD, pivots)`. `A` is of shape `(…, n, n)`: a float32 or
float64 tensor, exactly symmetric, or a complex64 tensor, exactly Hermitian, with `hermitian=True`. `LD` has its shape and
dtype, `pivots` is int32 of shape `(…, n)`. `hermitian` has no effect on real matrices. `out`: if given, a tuple of two
contiguous tensors of these shapes and dtypes; they are filled and returned. `hermitian` and `out` are passed by name.

The format is that of LAPACK's `sytrf` (complex: `hetrf`) for the lower triangle: with blocks of one or two columns from
left to right, `A = P₁ L₁ P₂ L₂ … D … L₂ᴴ P₂ᵀ L₁ᴴ P₁ᵀ`, `ᴴ` the conjugate transpose, where for a block that starts at column
`k` (counted from 1)

- `pivots[k] = p > 0`: `D[k, k] = LD[k, k]` is a 1 x 1 block, `P` exchanges `k` and `p ≥ k`, and column `k` of `L` below the
  diagonal is `LD[k+1:, k]`;
- `pivots[k] = pivots[k+1] = -p < 0`: a 2 x 2 block of `D`, symmetric or Hermitian, is made of `LD[k, k]`, `LD[k+1, k]`,
  `LD[k+1, k+1]`; `P` exchanges `k + 1` and `p ≥ k + 1`, and columns `k` and `k + 1` of `L` are `LD[k+2:, k:k+2]`.

`P` exchanges rows (and columns) of what is left, not of the columns of `L` before it. `L` has a unit diagonal that is not
stored. What `LD` holds above the diagonal is free. The choice of pivots is free too, as long as the factors reproduce the
matrix: `‖P₁ L₁ … D … L₁ᴴ P₁ᵀ - A‖ ≤ 10 n ε ‖A‖`, Frobenius norms, `ε` the machine epsilon of `A`'s dtype. Bunch-Kaufman pivoting
reaches that; 1 x 1 blocks alone do not, since diagonals may be zero. `A` may be non-contiguous and the batch may be 0; the
strides of the results are free.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("linear-algebra", "decomposition", "not-unique")
MAGNITUDES = (-52, 120)
DISTRIBUTIONS = ("standard", "outliers", "small", "large")

CASES = [
    dict(n=2, batch=(7,), zero_diagonal=True, moderate=True),
    dict(n=13, moderate=True),
    dict(n=17, zero_diagonal=True, hermitian=True, moderate=True),
    dict(n=8, moderate=True, dtype=torch.float64),
    dict(n=11, hermitian=True, moderate=True, dtype=torch.complex64),
    dict(n=1),
    dict(n=6, batch=(3,), strided=True),
    dict(n=10, out=True, zero_diagonal=True),
    dict(n=5, batch=(2, 2), hermitian=True, zero_diagonal=True, dtype=torch.complex64),
    dict(n=5, batch=(0,)),
]

SIZES = [
    dict(n=32),
    dict(n=16, batch=(16,)),
    dict(n=256),
    dict(n=512),
]


def ldl_factor(A, hermitian=False, out=None):
    if not A.is_complex():
        return torch.linalg.ldl_factor(A, hermitian=hermitian, out=out)
    # On a GPU Hermitian matrices need MAGMA, which not every build of PyTorch has.
    return _given([t.to(A.device) for t in torch.linalg.ldl_factor(A.cpu(), hermitian=hermitian)], out)


def _given(result, out):
    return tuple(result) if out is None else tuple(t.copy_(r) for t, r in zip(out, result, strict=True))


def inputs(
    make, n, batch=(), hermitian=False, zero_diagonal=False, moderate=False, dtype=None, strided=False, out=False
):
    a = make.floats(*batch, n, n, dtype=dtype)
    a = a / (a.abs() / 2.25).clamp(min=1) if moderate else a
    a = torch.tril(a) + torch.tril(a, -1).mH
    if zero_diagonal:
        a.diagonal(dim1=-2, dim2=-1).zero_()
    elif a.is_complex():
        a.diagonal(dim1=-2, dim2=-1).imag.zero_()
    target = None
    if out:
        target = (make.plain(*batch, n, n, dtype=dtype), make.ints(*batch, n, low=1, high=9, dtype=torch.int32))
    return call(make.strided(a) if strided else a, hermitian=hermitian, out=target)


def check(args, kwargs, result, expected):
    n = args[0].shape[-1]
    unit = 10 * n * torch.finfo(args[0].dtype).eps
    wide = torch.promote_types(args[0].dtype, torch.float64)
    matrices = (t.to(wide).reshape(-1, n, n) for t in (args[0], result[0]))
    for a, packed, pivots in zip(*matrices, result[1].reshape(-1, n), strict=True):
        blocks = _blocks(pivots.tolist())
        if blocks is None:
            return [f"the pivots {pivots.tolist()[:8]}… are not those of sytrf"]
        error, allowed = (_product(packed, blocks) - a).norm(), unit * a.norm()
        if not error <= allowed:
            return [f"the product of the factors is {error:.3g} from A, allowed {allowed:.3g}"]
    return []


def _blocks(pivots):
    """First column, size and exchanged row of each block, counted from 0; None where the pivots make no sense."""
    blocks, k, n = [], 0, len(pivots)
    while k < n:
        size = 1 if pivots[k] > 0 else 2
        row = abs(pivots[k]) - 1
        if not k + size - 1 <= row < n or (size == 2 and pivots[k] != pivots[k + 1]):
            return None
        blocks.append((k, size, row))
        k += size
    return blocks


def _product(packed, blocks):
    """Multiplies the factors from the inside out."""
    product = torch.zeros_like(packed)
    for k, size, row in reversed(blocks):
        last, end = k + size - 1, k + size
        block = torch.tril(packed[k:end, k:end])
        product[k:end, k:end] = block + torch.tril(block, -1).mH
        columns = packed[end:, k:end]
        product[end:, k:end] = columns @ product[k:end, k:end]
        product[k:end, end:] = product[end:, k:end].mH
        product[end:, end:] += product[end:, k:end] @ columns.mH
        if row != last:
            product[[last, row]] = product[[row, last]]
            product[:, [last, row]] = product[:, [row, last]]
    return product


CONTRACT = Property(check)


def _factored(A, pivoting=True):
    """Bunch-Kaufman pivoting, or 1 x 1 blocks in order."""
    n = A.shape[-1]
    packed, pivots = A.clone().reshape(-1, n, n), torch.zeros(A.shape[:-1], dtype=torch.int32).reshape(-1, n)
    for a, p in zip(packed, pivots, strict=True):
        k = 0
        while k < n:
            size, row = _pivot(a[k:, k:]) if pivoting else (1, 0)
            last, row, end = k + size - 1, k + row, k + size
            if row != last:
                a[[last, row], k:] = a[[row, last], k:]
                a[k:, [last, row]] = a[k:, [row, last]]
            p[k:end] = row + 1 if size == 1 else -(row + 1)
            block = a[k:end, k:end].clone()
            if block.any():
                columns = a[end:, k:end] @ torch.linalg.inv(block)
                a[end:, end:] -= columns @ a[k:end, end:]
                a[end:, k:end] = columns
            k = end
    return packed.reshape(A.shape), pivots.reshape(A.shape[:-1]).to(A.device)


def _pivot(rest):
    """Size of the next block, and the row to exchange with its last one."""
    corner, column = rest[0, 0].abs(), rest[1:, 0].abs()
    if not column.any() or corner >= 0.64 * column.max():
        return 1, 0
    row = int(column.argmax()) + 1
    others = torch.cat((rest[row, :row], rest[row, row + 1 :])).abs().max()
    if corner * others >= 0.64 * column.max() ** 2:
        return 1, 0
    return (1, row) if rest[row, row].abs() >= 0.64 * others else (2, row)


def positive_bunch_kaufman(A, hermitian=False, out=None):
    return _given(_factored(A), out)


def negative_no_pivoting(A, hermitian=False, out=None):
    """1 x 1 blocks in order, where a zero among them is replaced by a small number."""
    small = A + 1e-6 * torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    return _given(_factored(small, pivoting=False), out)


def negative_pivots_from_zero(A, hermitian=False, out=None):
    packed, pivots = ldl_factor(A, hermitian)
    return _given((packed, pivots - pivots.sign()), out)


def negative_factor_permuted(A, hermitian=False, out=None):
    """Applies the exchanges to the columns of L before them too, as an LU does."""
    packed, pivots = ldl_factor(A, hermitian)
    n = A.shape[-1]
    for a, p in zip(packed.view(-1, n, n), pivots.view(-1, n), strict=True):
        for k, size, row in _blocks(p.tolist()):
            a[[k + size - 1, row], :k] = a[[row, k + size - 1], :k]
    return _given((packed, pivots), out)


def negative_product_left_below(A, hermitian=False, out=None):
    """L D instead of L below the diagonal."""
    packed, pivots = ldl_factor(A, hermitian)
    diagonal = packed.diagonal(dim1=-2, dim2=-1)
    return _given((torch.tril(packed, -1) * diagonal.unsqueeze(-2) + torch.diag_embed(diagonal), pivots), out)


def negative_ignores_out(A, hermitian=False, out=None):
    return ldl_factor(A, hermitian)


def negative_symmetric(A, hermitian=False, out=None):
    """Transposes where a Hermitian matrix needs the conjugate transpose."""
    return _given(torch.linalg.ldl_factor(A), out)

"""Schur form by Givens rotations and the shifted QR algorithm, one program a matrix; then one program an eigenvector.

Triton has no complex numbers: real and imaginary parts are apart, in float64. A column of T and the same column of U lie in one
line of memory, so that what rotates two columns of T rotates those of U too. A sweep first rotates all its pairs of rows, notes
the rotations, and then rotates all pairs of columns. The row or column that successive rotations share stays in registers,
everything else in global memory: a barrier separates the halves of a sweep, and no half loads what it has stored.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def get(ptr, plane, mask):
    return tl.load(ptr, mask=mask, other=0.0), tl.load(ptr + plane, mask=mask, other=0.0)


@triton.jit
def get_one(ptr, plane):
    return tl.load(ptr), tl.load(ptr + plane)


@triton.jit
def put(ptr, plane, real, imaginary, mask):
    tl.store(ptr, real, mask=mask)
    tl.store(ptr + plane, imaginary, mask=mask)


@triton.jit
def rotation(ar, ai, br, bi):
    """A real c and a complex s with ``c b - conj(s) a = 0`` and ``c² + |s|² = 1``."""
    # the matrix is scaled to 1: this may stand for zero, and has a direction
    ar = tl.where(tl.abs(ar) < 1e-70, 1e-70, ar)
    square = ar * ar + ai * ai
    unit = 1.0 / tl.sqrt(square * (square + br * br + bi * bi))
    return square * unit, (ar * br + ai * bi) * unit, (ai * br - ar * bi) * unit


@triton.jit
def rotate(c, sr, si, xr, xi, yr, yi):
    """``c x + s y`` and ``c y - conj(s) x``."""
    return (
        c * xr + sr * yr - si * yi,
        c * xi + sr * yi + si * yr,
        c * yr - sr * xr - si * xi,
        c * yi - sr * xi + si * xr,
    )


@triton.jit
def clearing(here, xr, xi, yr, yi):
    """The rotation that clears y where x and y have their element ``here``."""
    ar, ai = tl.sum(tl.where(here, xr, 0.0), 0), tl.sum(tl.where(here, xi, 0.0), 0)
    br, bi = tl.sum(tl.where(here, yr, 0.0), 0), tl.sum(tl.where(here, yi, 0.0), 0)
    return rotation(ar, ai, br, bi)


@triton.jit
def note(turn_ptr, c, sr, si):
    tl.store(turn_ptr, c)
    tl.store(turn_ptr + 1, sr)
    tl.store(turn_ptr + 2, si)


@triton.jit
def noted(turn_ptr):
    """The same rotation as columns take it, from the right and conjugate."""
    return tl.load(turn_ptr), tl.load(turn_ptr + 1), -tl.load(turn_ptr + 2)


@triton.jit
def scale_to_one(t_ptr, n, BLOCK: tl.constexpr):
    plane, line = 2 * n, 4 * n
    at = tl.arange(0, BLOCK)
    inside = at < n
    largest = tl.zeros((BLOCK,), tl.float64)
    for i in range(n):
        xr, xi = get(t_ptr + i * line + at, plane, inside)
        largest = tl.maximum(largest, tl.maximum(tl.abs(xr), tl.abs(xi)))
    scale = tl.max(largest, 0)
    scale = tl.where(scale > 0, scale, 1.0)
    tl.debug_barrier()
    for i in range(n):
        xr, xi = get(t_ptr + i * line + at, plane, inside)
        put(t_ptr + i * line + at, plane, xr / scale, xi / scale, inside)
    tl.debug_barrier()
    return scale


@triton.jit
def clear_below_subdiagonal(t_ptr, turn_ptr, n, k, BLOCK: tl.constexpr):
    """Clears column k by rotations of row k + 1 with each row below it."""
    plane, line = 2 * n, 4 * n
    at = tl.arange(0, BLOCK)
    inside = at < n
    here = at == k
    row = t_ptr + at * line
    xr, xi = get(row + k + 1, plane, inside)
    for i in range(k + 2, n):
        yr, yi = get(row + i, plane, inside)
        c, sr, si = clearing(here, xr, xi, yr, yi)
        xr, xi, yr, yi = rotate(c, sr, si, xr, xi, yr, yi)
        put(row + i, plane, tl.where(here, 0.0, yr), tl.where(here, 0.0, yi), inside)
        note(turn_ptr + 3 * i, c, sr, si)
    put(row + k + 1, plane, xr, xi, inside)
    tl.debug_barrier()
    both = tl.arange(0, 2 * BLOCK)
    inside = both < 2 * n
    first = t_ptr + (k + 1) * line + both
    xr, xi = get(first, plane, inside)
    for i in range(k + 2, n):
        c, sr, si = noted(turn_ptr + 3 * i)
        col = t_ptr + i * line + both
        yr, yi = get(col, plane, inside)
        xr, xi, yr, yi = rotate(c, sr, si, xr, xi, yr, yi)
        put(col, plane, yr, yi, inside)
    put(first, plane, xr, xi, inside)
    tl.debug_barrier()


@triton.jit
def wilkinson_shift(corner, n):
    """Of the two by two block that ends at ``corner``: the eigenvalue that is nearer to its last element."""
    plane, line = 2 * n, 4 * n
    dr, di = get_one(corner, plane)
    cr, ci = get_one(corner - line, plane)
    br, bi = get_one(corner - 1, plane)
    ar, ai = get_one(corner - line - 1, plane)
    # d - p / (h ± √(h² + p)), the larger one of the two denominators
    hr, hi = (ar - dr) / 2, (ai - di) / 2
    pr, pi = br * cr - bi * ci, br * ci + bi * cr
    zr, zi = hr * hr - hi * hi + pr, 2 * hr * hi + pi
    large = tl.sqrt((tl.sqrt(zr * zr + zi * zi) + tl.abs(zr)) / 2)
    small = tl.abs(zi) / tl.where(large > 0, 2 * large, 1.0)
    rr = tl.where(zr >= 0, large, small)
    ri = tl.where(zr >= 0, small, large)
    ri = tl.where(zi < 0, -ri, ri)
    sign = tl.where(hr * rr + hi * ri < 0, -1.0, 1.0)
    qr, qi = hr + sign * rr, hi + sign * ri
    square = qr * qr + qi * qi
    square = tl.where(square > 0, square, 1.0)
    return dr - (pr * qr + pi * qi) / square, di - (pi * qr - pr * qi) / square


@triton.jit
def add_to_diagonal(t_ptr, n, lo, hi, real, imaginary, BLOCK: tl.constexpr):
    plane, line = 2 * n, 4 * n
    at = tl.arange(0, BLOCK)
    inside = (at >= lo) & (at <= hi)
    diagonal = t_ptr + at * (line + 1)
    xr, xi = get(diagonal, plane, inside)
    put(diagonal, plane, xr + real, xi + imaginary, inside)
    tl.debug_barrier()


@triton.jit
def qr_step(t_ptr, turn_ptr, n, lo, hi, BLOCK: tl.constexpr):
    """Of rows and columns lo to hi: ``T = Q R`` becomes ``R Q``."""
    plane, line = 2 * n, 4 * n
    at = tl.arange(0, BLOCK)
    inside = at < n
    row = t_ptr + at * line
    xr, xi = get(row + lo, plane, (at >= lo) & inside)
    for k in range(lo, hi):
        here = at == k
        yr, yi = get(row + k + 1, plane, inside)
        c, sr, si = clearing(here, xr, xi, yr, yi)
        xr, xi, yr, yi = rotate(c, sr, si, xr, xi, yr, yi)
        put(row + k, plane, xr, xi, inside)
        note(turn_ptr + 3 * k, c, sr, si)
        xr, xi = tl.where(here, 0.0, yr), tl.where(here, 0.0, yi)
    put(row + hi, plane, xr, xi, inside)
    tl.debug_barrier()
    both = tl.arange(0, 2 * BLOCK)
    inside = both < 2 * n
    xr, xi = get(t_ptr + lo * line + both, plane, inside)
    for k in range(lo, hi):
        c, sr, si = noted(turn_ptr + 3 * k)
        yr, yi = get(t_ptr + (k + 1) * line + both, plane, inside)
        xr, xi, yr, yi = rotate(c, sr, si, xr, xi, yr, yi)
        put(t_ptr + k * line + both, plane, xr, xi, inside)
        xr, xi = yr, yi
    put(t_ptr + hi * line + both, plane, xr, xi, inside)
    tl.debug_barrier()


@triton.jit(do_not_specialize=["n"])
def schur(t_ptr, scale_ptr, turn_ptr, n, EPS: tl.constexpr, BLOCK: tl.constexpr):
    """Takes A and the identity, leaves an upper triangular T and a unitary U with ``A = scale · U T Uᴴ``.

    ``t`` has a line for each column of T and of U together, first the real parts. ``turn`` has room for the rotations of a sweep.
    """
    plane, line = 2 * n, 4 * n
    matrix = tl.program_id(0).to(tl.int64)
    t_ptr += matrix * 4 * n * n
    turn_ptr += matrix * 3 * n
    tl.store(scale_ptr + matrix, scale_to_one(t_ptr, n, BLOCK))
    for k in range(n - 2):
        clear_below_subdiagonal(t_ptr, turn_ptr, n, k, BLOCK)

    # rows below hi are done; lo is the first row of the block that ends there
    at = tl.arange(0, BLOCK)
    hi = n - 1
    tries = 0
    left = 30 * n
    while (hi > 0) & (left > 0):
        below = (at > 0) & (at <= hi)
        corner = t_ptr + at * (line + 1)
        dr, di = get(corner, plane, below)
        cr, ci = get(corner - line, plane, below)
        ar, ai = get(corner - line - 1, plane, below)
        beside = tl.abs(ar) + tl.abs(ai) + tl.abs(dr) + tl.abs(di)
        subdiagonal = tl.abs(cr) + tl.abs(ci)
        negligible = subdiagonal <= tl.where(beside > 0, beside, 1.0) * EPS
        lo = tl.max(tl.where(below & negligible, at, 0), 0)
        if lo == hi:
            put(t_ptr + hi * (line + 1) - line, plane, 0.0, 0.0, None)
            tl.debug_barrier()
            hi -= 1
            tries = 0
        else:
            left -= 1
            tries += 1
            sr, si = wilkinson_shift(t_ptr + hi * (line + 1), n)
            tl.debug_barrier()
            if tries % 10 == 0:
                # another one, for matrices that the usual one leaves as they are
                sr += tl.sum(tl.where(at == hi, subdiagonal, 0.0), 0)
            add_to_diagonal(t_ptr, n, lo, hi, -sr, -si, BLOCK)
            qr_step(t_ptr, turn_ptr, n, lo, hi, BLOCK)
            add_to_diagonal(t_ptr, n, lo, hi, sr, si, BLOCK)


@triton.jit(do_not_specialize=["n"])
def eigenvectors(t_ptr, scale_ptr, value_ptr, vector_ptr, n, EPS: tl.constexpr, BLOCK: tl.constexpr):
    """Eigenvector k of the triangle by back substitution from x_k = 1, times U; results have their parts side by side."""
    plane, line = 2 * n, 4 * n
    matrix = tl.program_id(0).to(tl.int64)
    k = tl.program_id(1)
    t_ptr += matrix * 4 * n * n
    at = tl.arange(0, BLOCK)
    inside = at < n
    lr, li = get_one(t_ptr + k * (line + 1), plane)
    # for each row, the sum over the elements that are known already
    zero = tl.zeros((BLOCK,), tl.float64)
    rest_r, rest_i = tl.where(at == k, 1.0, zero), zero
    vr, vi = zero, zero
    for step in range(k + 1):
        j = k - step
        dr, di = get_one(t_ptr + j * (line + 1), plane)
        dr, di = lr - dr, li - di
        # equal eigenvalues count as neighbours
        dr = tl.where(tl.abs(dr) + tl.abs(di) < EPS, EPS, dr)
        dr = tl.where(j == k, 1.0, dr)
        square = dr * dr + di * di
        pr, pi = tl.sum(tl.where(at == j, rest_r, 0.0), 0), tl.sum(tl.where(at == j, rest_i, 0.0), 0)
        xr, xi = (pr * dr + pi * di) / square, (pi * dr - pr * di) / square
        # neighbours give long vectors, which are made shorter before they overflow
        shorter = 1.0 / tl.maximum(1.0, tl.abs(xr) + tl.abs(xi))
        xr, xi = xr * shorter, xi * shorter
        tr, ti = get(t_ptr + j * line + at, plane, at < j)
        rest_r = rest_r * shorter + tr * xr - ti * xi
        rest_i = rest_i * shorter + tr * xi + ti * xr
        ur, ui = get(t_ptr + j * line + n + at, plane, inside)
        vr = vr * shorter + ur * xr - ui * xi
        vi = vi * shorter + ur * xi + ui * xr
    length = tl.sqrt(tl.sum(vr * vr + vi * vi, 0))
    scale = tl.load(scale_ptr + matrix)
    put(value_ptr + 2 * (matrix * n + k), 1, lr * scale, li * scale, None)
    put(vector_ptr + 2 * (matrix * n * n + at * n + k), 1, vr / length, vi / length, inside)


def eig(A):
    kind = torch.promote_types(A.dtype, torch.complex64)
    values = torch.empty(A.shape[:-1], dtype=kind, device=A.device)
    vectors = torch.empty(A.shape, dtype=kind, device=A.device)
    if A.numel() == 0:
        return values, vectors
    n = A.shape[-1]
    batch = A.numel() // (n * n)
    t = torch.zeros(*A.shape[:-1], 2, 2 * n, dtype=torch.float64, device=A.device)
    t[..., 0, :n].copy_(A.mT.real)
    if A.is_complex():
        t[..., 1, :n].copy_(A.mT.imag)
    t[..., 0, n:].diagonal(dim1=-2, dim2=-1).fill_(1)
    scale = torch.empty(batch, dtype=torch.float64, device=A.device)
    turns = torch.empty(batch, 3 * n, dtype=torch.float64, device=A.device)
    # what the input's precision would not hold is zero
    eps = torch.finfo(A.dtype).eps
    # one warp, with a thread for each element at least: sums need no shared memory, and no two threads hold the same element
    block = max(32, triton.next_power_of_2(n))
    schur[(batch,)](t, scale, turns, n, EPS=eps, BLOCK=block, num_warps=1)
    results = torch.view_as_real(values), torch.view_as_real(vectors)
    eigenvectors[(batch, n)](t, scale, *results, n, EPS=eps, BLOCK=block, num_warps=1)
    return values, vectors
